// Draw a Bokeh figure in its division. `parts` are the gzipped pieces of BokehJS in this output;
// a figure without them waits until another output of the page brings them.
(async (target, version, needed, parts, item) => {
  const unpacked = (data) => {
    const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0))
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))
    return new Response(stream).text()
  }
  const pages = (globalThis.genobit_bokehjs ??= {})
  const page = (pages[version] ??= { root: {}, pieces: {} })
  const piece = (name) => {
    if (!page.pieces[name]) {
      const found = (page.pieces[name] = { code: null })
      found.ready = new Promise((resolve) => (found.resolve = resolve))
    }
    return page.pieces[name]
  }
  // A page may have loaded BokehJS itself, as a built site does.
  const loaded = () => (globalThis.Bokeh?.version === version ? globalThis.Bokeh : null)
  const run = async (name, data) => {
    const code = await unpacked(data)
    for (const before of needed.slice(0, needed.indexOf(name))) await piece(before).ready
    // A scope of its own: the explorers and other packages have a BokehJS too.
    const script = document.createElement("script")
    const root = `globalThis.genobit_bokehjs[${JSON.stringify(version)}].root`
    script.textContent = `(function (Bokeh) {${code}\n}).call(${root}, ${root}.Bokeh)`
    document.head.append(script)
    script.remove()
    piece(name).resolve()
  }
  for (const [name, data] of Object.entries(parts)) {
    if (loaded() || piece(name).code) continue
    piece(name).code = run(name, data)
  }
  const drawing = unpacked(item)
  const sent = Promise.all(needed.map((name) => piece(name).ready))
  const own = new Promise((resolve) => {
    if (loaded()) resolve()
    else addEventListener("load", () => loaded() && resolve())
  })
  await Promise.race([sent, own])
  const bokeh = loaded() ?? page.root.Bokeh
  // JupyterLab can show an output twice, and each view runs this script.
  for (const division of document.querySelectorAll(`[id="${target}"]`)) {
    if (division.dataset.drawn) continue
    division.dataset.drawn = "yes"
    division.replaceChildren()
    const { doc, root_id } = JSON.parse(await drawing)
    await bokeh.embed.embed_item({ doc, root_id }, division)
  }
})
