// Colours of Python are those of the light theme. On a dark page they are replaced in the text of
// documents and patches.
const COLOUR = /"#[0-9a-f]{6}"/gi
const levels = (colour) => [1, 3, 5].map((k) => parseInt(colour.slice(k, k + 2), 16))

function darkening({ plain, ramps }) {
  const known = new Map(Object.entries(plain))
  const samples = ramps.map(([light, dark]) => [light.map(levels), dark])
  // A colour of a ramp becomes the one at its place; others stay.
  const on_ramp = (colour) => {
    const [red, green, blue] = levels(colour)
    let [best, found] = [40, colour]
    for (const [light, dark] of samples) {
      light.forEach(([r, g, b], k) => {
        const away = (r - red) ** 2 + (g - green) ** 2 + (b - blue) ** 2
        if (away < best) [best, found] = [away, dark[k]]
      })
    }
    return found
  }
  const dark = (colour) => {
    const name = colour.toLowerCase()
    if (!known.has(name)) known.set(name, on_ramp(name))
    return known.get(name)
  }
  return (text) => text.replace(COLOUR, (quoted) => `"${dark(quoted.slice(1, -1))}"`)
}
