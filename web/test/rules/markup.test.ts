import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type MarkupNode, parseMarkup, stripMarkup } from '../../src/shared/markup/markup.ts'

/** Returns a short form of nodes: `b(…)` bold, `i(…)`, `s(…)`, `c(…)` code, `l(…)` links, `@(…)` mentions. */
function shortOf(pieces: readonly MarkupNode[]): string {
  return pieces
    .map((piece) => {
      switch (piece.type) {
        case 'text':
          return piece.text
        case 'link':
          return `l(${piece.text})`
        case 'mention':
          return `@(${piece.text})`
        case 'code':
          return `c(${piece.text})`
        default:
          return `${piece.type[0]}(${shortOf(piece.children)})`
      }
    })
    .join('')
}

const cases: [text: string, drawn: string][] = [
  ['plain', 'plain'],
  ['*bold* and more', 'b(bold) and more'],
  ['_it_ ~st~', 'i(it) s(st)'],
  ['*all _of ~it~_*', 'b(all i(of s(it)))'],
  ['(*bold*), "_it_"!', '(b(bold)), "i(it)"!'],
  ['snake_case_name 2*3*4', 'snake_case_name 2*3*4'],
  ['a * b * c', 'a * b * c'],
  ['* item', '* item'],
  ['*not closed', '*not closed'],
  ['*not \nclosed*', '*not \nclosed*'],
  ['*bold*\n*bold*', 'b(bold)\nb(bold)'],
  ['** _ _ ~~', '** _ _ ~~'],
  ['*a _b* c_', 'b(a _b) c_'],
  ['*a*b*', 'b(a*b)'],
  ['*ação*é', '*ação*é'],
  ['say `*x*` now', 'say c(*x*) now'],
  ['```a\n*b*```', 'c(a\n*b*)'],
  ['`a\nb`', '`a\nb`'],
  ['`` ` ```', '`` ` ```'],
  ['*see `x`*', 'b(see c(x))'],
  ['see https://a.example/b_c_d *now*', 'see l(https://a.example/b_c_d) b(now)'],
  ['*https://a.example*', 'b(l(https://a.example))'],
  ['`https://a.example`', 'c(https://a.example)'],
  ['<b>no</b> &amp; [x](javascript:alert(1))', '<b>no</b> &amp; [x](javascript:alert(1))'],
  ['*👍🏽*', 'b(👍🏽)'],
]

for (const [text, drawn] of cases) {
  test(`${JSON.stringify(text)} is parsed as ${JSON.stringify(drawn)}`, () => {
    assert.equal(shortOf(parseMarkup(text)), drawn)
  })
}

test('names mentioned in a note are marked, the longer of two, and no other word after @', () => {
  const names = ['Ana', 'Ana Lima']
  assert.equal(shortOf(parseMarkup('@Ana Lima, *@Ana* @Anabel @Bo', names)), '@(@Ana Lima), b(@(@Ana)) @Anabel @Bo')
})

test('single-line previews have no markup', () => {
  assert.equal(stripMarkup('*a _b_* `c` snake_case https://x.example/_y_'), 'a b c snake_case https://x.example/_y_')
})

/** Reconstructs the source. */
const sourceOf = (pieces: readonly MarkupNode[]): string =>
  pieces
    .map((piece) => {
      if (piece.type === 'code') return piece.mark + piece.text + piece.mark
      return 'children' in piece ? piece.mark + sourceOf(piece.children) + piece.mark : piece.text
    })
    .join('')

const depthOf = (pieces: readonly MarkupNode[]): number =>
  Math.max(0, ...pieces.map((piece) => ('children' in piece ? 1 + depthOf(piece.children) : 0)))

function* signs(seed: number): Generator<string> {
  const alphabet = [...'*_~`\n aé.@<)', '```', '👍', '@Ana', 'https://a.example/x']
  for (let state = seed; ; ) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    yield alphabet[(state >>> 8) % alphabet.length] ?? ''
  }
}

test('for any input, nothing is lost or added, and at most three styles are nested', () => {
  for (let seed = 1; seed <= 1500; seed++) {
    const text = signs(seed)
      .take(1 + (seed % 40))
      .toArray()
      .join('')
    const pieces = parseMarkup(text, ['Ana'])
    assert.equal(sourceOf(pieces), text)
    assert.ok(depthOf(pieces) <= 3, text)
  }
})

test('a text of markers only takes linear time', () => {
  for (const unit of ['*', '*a ', ' *a', '_a* ', '`', '``` ', '`a\n', '*_~a', '~~a', '@Ana', '@', '*a* ']) {
    const text = unit.repeat(200_000 / unit.length)
    assert.equal(sourceOf(parseMarkup(text, ['Ana'])), text)
  }
})
