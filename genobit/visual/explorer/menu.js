// Put text on the clipboard. A page without permission keeps the text in the status line.
export default {
  initialize({ model }) {
    const write = ({ text }) => navigator.clipboard?.writeText(text).catch(() => {})
    const listening = model_in(model, "channel").then((channel) => channel.on("msg:custom", write))
    return async () => (await listening).off("msg:custom", write)
  },
}
