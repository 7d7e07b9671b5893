const sleep = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds))

// Return the model of the widget in a trait. A page that restores its widgets may make it later.
async function model_in(model, trait) {
  const id = model.get(trait).replace("IPY_MODEL_", "")
  for (let tries = 300; ; tries--) {
    try {
      return await model.widget_manager.get_model(id)
    } catch (error) {
      if (tries === 0) throw error
      await sleep(100)
    }
  }
}
