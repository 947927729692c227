// The three pages: one layout, a view for each, and the view model that all of them take.

import { fileURLToPath } from 'node:url'
import { Eta } from 'eta'

const eta = new Eta({
  views: fileURLToPath(new URL('./views', import.meta.url)),
  cache: true
})

export const PAGES = {
  home: {
    title: 'Home - Levelfield',
    message: 'The same service, built in many ways: see what each of them costs.'
  },
  about: {
    title: 'About - Levelfield',
    message: 'One contract, served by a component and by native builds.'
  },
  contact: {
    title: 'Contact - Levelfield',
    message: 'Tell us where a build answers otherwise than the contract says.'
  }
}

/** Renders a view, in its layout, with a model of title, message and year. */
export function render (view, model) {
  return eta.render(`./${view}`, model)
}
