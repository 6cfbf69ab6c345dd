import { type Html, html } from '../../../base/text/html.ts'
import { page } from './layout.ts'
import type { Words } from './words.ts'

/** For a person whose address leads nowhere. */
export function lostPage(words: Words): Html {
  return page(
    { title: words.nothingHere, words },
    html`<div class="card">
<h1>${words.nothingHere}</h1>
<p class="quiet">${words.nothingHereHelp}</p>
<p><a href="/">${words.home}</a></p>
</div>`,
  )
}
