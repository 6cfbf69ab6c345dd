import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findTerm, parseMessageTerm, piecesOf, snippetOf } from '../../../src/inbox/search/search-terms.ts'

const finds = (search: string, text: string): boolean => {
  const term = parseMessageTerm(search)
  return term !== null && findTerm(text, term) !== null
}

const found: [search: string, text: string, isFound: boolean][] = [
  ['orcamento', 'Segue o ORÇAMENTO.', true],
  ['ORÇAMENTO', 'segue o orcamento', true],
  ['orca', 'Segue o orçamento', true],
  ['or', 'Segue o orçamento', false],
  ['or', 'this or that', true],
  ['orca segue', 'Segue o orçamento', false],
  ['segue orca', 'O orçamento segue', true],
  ['sofa azul', 'El azul es el sofá', true],
  ['"sofa azul"', 'El azul es el sofá', false],
  ['"sofa azul"', 'Un sofá azul.', true],
  ['"sofa az"', 'Un sofá azul.', false],
  ['“sofa  azul” entreg', 'Un sofá, azul: ¿entregan?', true],
  ['ab-1234', 'Pedido AB-1234 listo', true],
  ['ab-1234', '1234 y ab', false],
  ['ana@example.com', 'write to Ana@Example.com!', true],
  ['l’acqua', "dov'è l'acqua?", true],
  ['acqua', "dov'è l'acqua?", true],
  ['955501101', 'llama al 955501101', true],
  ['9555', 'llama al 955501101', true],
  ['5011', 'llama al 955501101', false],
  ['straße', 'STRASSE 12', true],
  ['伟', '你好，王伟', true],
  ['王伟', '你好，王伟先生', true],
  ['伟王', '你好，王伟先生', false],
  ['配送', '明日配送できますか', true],
  ['送できま', '明日配送できますか', true],
  ['iphone', '我要iPhone手机', true],
  ['한국', '저는 한국어를', true],
  ['👍', 'ok 👍', false],
  ['...', 'ok ...', false],
  ['a"b c"d', 'a "b c" d', true],
]

for (const [search, text, isFound] of found) {
  test(`${search} ${isFound ? 'finds' : 'does not find'} ${text}`, () => {
    assert.equal(finds(search, text), isFound)
  })
}

test('a hit has its position in the original text, however it was folded', () => {
  for (const text of ['Ação e REAÇÃO: ½ kg, ﬁm, İstanbul', '王伟 says 你好hello', '𝔘nicode 𠮷野家 x́y']) {
    for (const { from, to, text: word } of piecesOf(text)) {
      assert.ok(from < to && to <= text.length, word)
      assert.ok(text.slice(from, to).isWellFormed(), word)
    }
  }
})

test('a snippet is one line around the marked first hit, and splits no short word and no letter', () => {
  const long = `${'before '.repeat(40)}the blue\n sofa is here ${'after '.repeat(60)}`
  const term = parseMessageTerm('sofa here')
  assert.ok(term !== null)
  const shown = snippetOf(long, findTerm(long, term) ?? [])
  assert.deepEqual(
    shown.filter(({ isHit }) => isHit).map(({ text }) => text),
    ['sofa', 'here'],
  )
  const line = shown.map(({ text }) => text).join('')
  assert.ok(line.startsWith('…') && line.endsWith('…') && line.length < 220, line)
  assert.match(line, /^…before .* the blue sofa is here after /)
  const letters = `${'𠮷'.repeat(300)} sofa ${'👍🏽'.repeat(200)}`
  for (const { text } of snippetOf(letters, findTerm(letters, parseMessageTerm('sofa') ?? { phrases: [] }) ?? [])) {
    assert.ok(text.isWellFormed())
  }
})
