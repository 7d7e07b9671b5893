// Name controls for screen readers. ipywidgets names only what has a visible label of its own.
const UNNAMED = "input, select, textarea, [role=slider]"

function name_controls(explorer) {
  for (const control of explorer.querySelectorAll(UNNAMED)) {
    const is_slider = control.getAttribute("role") === "slider"
    if (!is_slider && [...(control.labels ?? [])].some((label) => label.textContent)) continue
    const widget = control.closest(".jupyter-widgets")
    const name = widget?.querySelector(".widget-label")?.textContent || control.title
    if (name && control.ariaLabel !== name) control.ariaLabel = name
  }
}

export default {
  render({ model, el }) {
    const follow = () => name_controls(explorer)
    const changes = new MutationObserver(follow)
    let explorer = null
    // The page inserts an explorer when all of its parts are made.
    const inserted = setInterval(() => {
      explorer = el.closest(".genobit-explorer")
      if (!explorer) return
      clearInterval(inserted)
      explorer.role = "group"
      explorer.ariaLabel = model.get("name")
      follow()
      changes.observe(explorer, { subtree: true, childList: true, attributeFilter: ["title"] })
    }, 50)
    return () => {
      clearInterval(inserted)
      changes.disconnect()
    }
  },
}
