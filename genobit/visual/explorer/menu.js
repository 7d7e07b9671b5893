// Put text on the clipboard. A page without permission keeps the text in the status line.
export default {
  initialize({ model }) {
    model.on("msg:custom", ({ text }) => navigator.clipboard?.writeText(text).catch(() => {}))
  },
}
