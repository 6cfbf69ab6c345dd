import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { html, trustedHtml } from '../../../src/base/text/html.ts'
import { anyCharacter } from '../../support/any-character.ts'

const rows: [string, string, string][] = [
  ['text', html`<p>${'<script>alert(1)</script>'}</p>`.text, '<p>&#60;script&#62;alert(1)&#60;/script&#62;</p>'],
  ['an attribute', html`<a title="${'" onclick="x'}">`.text, '<a title="&#34; onclick=&#34;x">'],
  ['a number', html`${3}`.text, '3'],
  ['nothing', html`a${null}${undefined}${false}${true}b`.text, 'ab'],
  ['a nested template', html`<b>${html`<i>${'&'}</i>`}</b>`.text, '<b><i>&#38;</i></b>'],
  [
    'a list',
    html`<ul>${['a', '<'].map((item) => html`<li>${item}</li>`)}</ul>`.text,
    '<ul><li>a</li><li>&#60;</li></ul>',
  ],
  ['trusted markup', html`${trustedHtml('<hr>')}`.text, '<hr>'],
]

for (const [what, actual, expected] of rows) {
  test(`html writes ${what}`, () => assert.equal(actual, expected))
}

test('no text a person can type leaves its element or attribute', () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter }), (text) => {
      assert.doesNotMatch(html`${text}`.text, /[<>"'`]/)
    }),
  )
})
