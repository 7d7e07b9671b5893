// The views of a Picture: each has a Bokeh document of its own, which follows Python's by patches.
//
// Python numbers its patches. The page keeps them, so that a new view can start from the last
// snapshot of the document. It asks for a new snapshot if there are many, or if one is missing.

const MANY = 8e6 // bytes of patches
const page = (globalThis.genobit_page ??= `${Date.now()}-${Math.random()}`)
// Each view has its own size.
const SIZES = new Set(["inner_width", "inner_height", "outer_width", "outer_height"])
const EDGES = new Set(["start", "end"])
const PAUSE = 50 // milliseconds
const LONGEST = 400

async function unpacked(data) {
  const stream = new Blob([data]).stream().pipeThrough(new DecompressionStream("gzip"))
  return new Response(stream).text()
}

// Replace two methods of BokehJS, once a page.
function adapt(Bokeh) {
  try {
    // BokehJS asks the page for the style of each text and each fill, several times a frame. That
    // took half the time of a frame. No style of ours is set in this way.
    const { VisualProperties } = Bokeh.require("core/visuals/visual")
    if (!VisualProperties.prototype._get_css_value) throw new Error("it has no _get_css_value")
    VisualProperties.prototype._get_css_value = () => ""
    // BokehJS updates a layer at each change, and waits between its glyphs. If a later change of
    // the same patch brings fewer points, the first update fails. Update once, after the patch.
    const { GlyphRendererView } = Bokeh.require("models/renderers/glyph_renderer")
    const update = GlyphRendererView.prototype.update_data
    if (!update) throw new Error("it has no update_data")
    GlyphRendererView.prototype.update_data = async function () {
      const asked = (this.genobit_asked = {})
      await null
      if (asked === this.genobit_asked) await update.call(this)
    }
  } catch (error) {
    console.warn("genobit: this BokehJS draws more slowly:", error)
  }
  return true
}

// BokehJS in a scope of its own, once a page. `figure.js` keeps its pieces in the same place.
async function bokehjs(model) {
  const version = model.get("version")
  const root_of_page = ((globalThis.genobit_bokehjs ??= {})[version] ??= { root: {}, pieces: {} })
  const { root, pieces } = root_of_page
  const piece = (name) => {
    if (!pieces[name]) {
      const found = (pieces[name] = { code: null })
      found.ready = new Promise((resolve) => (found.resolve = resolve))
    }
    return pieces[name]
  }
  let before = Promise.resolve()
  for (const [name, data] of Object.entries(model.get("pieces"))) {
    const own = piece(name)
    own.code ??= run(unpacked(data), before)
    before = own.ready
    async function run(text, earlier) {
      const code = await text
      await earlier
      const script = document.createElement("script")
      const place = `globalThis.genobit_bokehjs[${JSON.stringify(version)}].root`
      script.textContent = `(function (Bokeh) {${code}\n}).call(${place}, ${place}.Bokeh)`
      document.head.append(script)
      script.remove()
      own.resolve()
    }
  }
  await before
  root_of_page.adapted ??= adapt(root.Bokeh)
  return root.Bokeh
}

const copied = (data) => data.buffer.slice(data.byteOffset, data.byteOffset + data.byteLength)
const without_buffers = (_key, value) => (value?.to_base64 ? value.to_base64() : value)

function apply(view, { content, names, buffers }) {
  const patch = JSON.parse(view.coloured(content))
  const changes = patch.events.map(({ model, attr }) => ({ id: model?.id, attr }))
  // Edges that wait are older.
  const is_older = ({ model, attr }) =>
    EDGES.has(attr) && changes.some((change) => change.id === model.id && change.attr === attr)
  view.events = view.events.filter((event) => !is_older(event))
  view.doc.apply_json_patch(patch, new Map(names.map((name, k) => [name, copied(buffers[k])])))
  for (const { id, attr } of changes) {
    if (attr !== "start" && attr !== "end") continue
    const range = view.doc.get_model_by_id(id)
    // `gestures.py` does not report it.
    if (range) range.genobit_known = { start: range.start, end: range.end }
  }
}

function is_dark(el) {
  const explorer = el.closest(".genobit-explorer")
  if (explorer?.classList.contains("genobit-theme-dark")) return true
  if (explorer?.classList.contains("genobit-theme-light")) return false
  const { jpThemeLight, vscodeThemeKind } = document.body.dataset
  return jpThemeLight === "false" || (vscodeThemeKind ?? "").includes("dark")
}

function show_error(el, error) {
  console.error(error)
  el.textContent = `The picture cannot be drawn: ${error}`
}

export default () => {
  const views = new Set()
  let channel = null // model that hears Python
  let shared = null // model of BokehJS
  let listening = null // promise of the two models
  let log = [] // patches since the snapshot
  let number = 0 // of the last patch of Python
  let asked = null // length of the log when a new snapshot was asked for
  let stale = false // views have to start again from the new snapshot
  let colours = null // replaces light colours by dark ones in a text

  async function listen(model) {
    channel = await model_in(model, "channel")
    shared = await model_in(model, "library")
    number = channel.get("snapshot").number
    channel.on("msg:custom", heard)
    channel.on("change:snapshot", renewed)
    channel.send({ kind: "opened", page, number })
  }

  function refresh() {
    if (asked !== null) return
    asked = log.length
    channel.send({ kind: "refresh" })
  }

  function share(patch, origin) {
    log.push(patch)
    for (const view of views) {
      if (view === origin) continue
      if (!view.doc) view.queue?.push(patch)
      else {
        try {
          apply(view, patch)
        } catch (error) {
          console.warn("genobit: a patch does not fit, the picture is drawn anew:", error)
          stale = true
          refresh()
        }
      }
    }
    const bytes = log.reduce((sum, { size }) => sum + size, 0)
    if (bytes > MANY) refresh()
  }

  function heard(message, buffers) {
    if (message.kind !== "patch" || message.number <= number) return
    if (message.number > number + 1) {
      stale = true
      refresh()
    }
    number = message.number
    if (message.page === page) return
    const size = buffers.reduce((sum, data) => sum + data.byteLength, message.content.length)
    share({ content: message.content, names: message.names, buffers, size }, null)
  }

  function renewed() {
    const fresh = channel.get("snapshot")
    // The patches before come first, unless they were sent before this page listened.
    if (fresh.number !== number) stale = true
    number = fresh.number
    // Python did not yet have the changes that this page has made since it asked.
    log = asked === null ? [] : log.slice(asked).filter(({ own }) => own)
    asked = null
    if (!stale) return
    stale = false
    for (const view of views) {
      close(view)
      open(view)
    }
  }

  function tell(view, event) {
    const events = event.events ? (event.sync ? event.events : []) : [event]
    const news = events.filter(({ sync, kind, attr }) => sync && kind && !SIZES.has(attr))
    if (news.length === 0) return
    view.events.push(...news)
    if (view.leaving) return
    // One message for all changes of an event of the browser. Edges of ranges alone wait for a
    // pause: the notebook repaints its own toolbar for each message.
    const now = performance.now()
    view.since ??= now
    view.leaving = !news.every(({ attr }) => EDGES.has(attr))
    const wait = view.leaving ? 0 : Math.max(0, Math.min(PAUSE, view.since + LONGEST - now))
    clearTimeout(view.timer)
    view.timer = setTimeout(() => send(view), wait)
  }

  function send(view) {
    clearTimeout(view.timer)
    view.leaving = false
    view.since = null
    const last = new Map() // of the edges of a range; all other events
    for (const event of view.events.splice(0)) {
      if (event.document !== view.doc) continue
      last.set(EDGES.has(event.attr) ? `${event.model.id} ${event.attr}` : event, event)
    }
    const events = [...last.values()]
    if (events.length === 0) return
    const content = JSON.stringify(view.doc.create_json_patch(events), without_buffers)
    channel.send({ kind: "patch", page, content })
    const changes = JSON.parse(content).events.filter(({ kind }) => kind !== "MessageSent")
    if (changes.length === 0) return
    const patch = { content: JSON.stringify({ events: changes }), names: [], buffers: [] }
    share({ ...patch, size: patch.content.length, own: true }, view)
  }

  async function open(view) {
    const { el } = view
    const opening = (view.opening = {})
    const is_gone = () => view.opening !== opening
    el.textContent = "Loading the picture …"
    try {
      await listening
      const bokeh = await bokehjs(shared)
      // BokehJS looks for the element in the page.
      while (!el.isConnected && !is_gone()) await sleep(20)
      if (is_gone()) return
      const { json, buffers } = channel.get("snapshot")
      view.queue = [...log]
      view.dark = is_dark(el)
      view.coloured = view.dark ? (colours ??= darkening(shared.get("colours"))) : (text) => text
      const doc = JSON.parse(view.coloured(json), (key, value) =>
        key === "data" && buffers[value?.id] ? { buffer: copied(buffers[value.id]) } : value,
      )
      el.replaceChildren()
      const manager = await bokeh.embed.embed_item({ doc, root_id: doc.roots[0].id }, el)
      const drop = () => {
        const { document } = manager.roots[0].model
        manager.clear()
        bokeh.documents.splice(bokeh.documents.indexOf(document), 1)
      }
      if (is_gone()) return drop()
      view.drop = drop
      view.doc = manager.roots[0].model.document
      for (const patch of view.queue.splice(0)) apply(view, patch)
      view.doc.on_change((event) => tell(view, event), true)
    } catch (error) {
      if (!is_gone()) show_error(el, error)
    }
  }

  function close(view) {
    if (view.doc) send(view)
    view.opening = view.doc = view.queue = null
    view.events = []
    view.drop?.()
    view.drop = null
  }

  return {
    initialize({ model }) {
      listening = listen(model)
      listening.catch(() => {}) // views show the error
      return async () => {
        await listening
        channel.off("msg:custom", heard)
        channel.off("change:snapshot", renewed)
      }
    },
    render({ el }) {
      const view = { el, events: [] }
      views.add(view)
      open(view)
      // The snapshot may be older than the changes that the log has, so start from both.
      const rethemed = new MutationObserver(() => {
        if (!view.doc || view.dark === is_dark(el)) return
        close(view)
        open(view)
      })
      const explorer = el.closest(".genobit-explorer")
      for (const themed of [document.body, explorer]) {
        const filter = ["class", "data-jp-theme-light", "data-vscode-theme-kind"]
        if (themed) rethemed.observe(themed, { attributeFilter: filter })
      }
      return () => {
        rethemed.disconnect()
        views.delete(view)
        close(view)
      }
    },
  }
}
