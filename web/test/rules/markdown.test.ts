import assert from 'node:assert/strict'
import { test } from 'node:test'
import { diffWords } from '../../src/shared/diff-words.ts'
import { markdownToMessage, parseMarkdown } from '../../src/shared/markdown/parse-markdown.ts'

test('Markdown becomes a message as phones show it', () => {
  const cases: [markdown: string, message: string][] = [
    ['# Returns\n\nWithin **30 days**, _always_.', '*Returns*\n\nWithin *30 days*, _always_.'],
    ['- One\n- Two **2**\n\n1. First\n2) Second', '• One\n• Two *2*\n\n1. First\n2. Second'],
    ['See [our page](https://shop.example/a_b_c).', 'See our page: https://shop.example/a_b_c.'],
    ['https://shop.example/x', 'https://shop.example/x'],
    ['> Quoted\n> twice', 'Quoted\ntwice'],
    ['```\ncode **x**\n```\n\n`y`', 'code **x**\n\ny'],
    ['snake_case_name and 2*3*4', 'snake_case_name and 2*3*4'],
  ]
  for (const [markdown, message] of cases) assert.equal(markdownToMessage(markdown), message)
})

test('only web addresses become links, and nothing becomes HTML', () => {
  for (const text of ['[x](javascript:alert(1))', '[x](data:text/html,x)', '<b>x</b>']) {
    assert.deepEqual(parseMarkdown(text), [{ type: 'paragraph', children: [{ type: 'text', text }] }])
  }
})

test('hostile Markdown takes no time', () => {
  const start = process.cpuUsage()
  for (const part of ['**', '*a', '`', '[', '[a](', '> ', '>', '- ', '```\n', '#', '_a', '1. \n', '> > > > '])
    parseMarkdown(part.repeat(50_000 / part.length))
  const { user } = process.cpuUsage(start)
  assert.ok(user < 3_000_000, `${user} µs`)
})

test('two texts are compared word by word', () => {
  const shown = (before: string, after: string) =>
    diffWords(before, after)
      .map(({ kind, text }) => (kind === 'same' ? text : kind === 'added' ? `{+${text}}` : `{-${text}}`))
      .join('')
  const cases: [before: string, after: string, expected: string][] = [
    ['one two three', 'one two three', 'one two three'],
    ['one two three', 'one 2 three', 'one {-two}{+2} three'],
    ['one three', 'one two three', 'one {+two }three'],
    ['', 'one', '{+one}'],
    ['one', '', '{-one}'],
  ]
  for (const [before, after, expected] of cases) assert.equal(shown(before, after), expected)
  const [long, other] = ['a b '.repeat(5000).trim(), 'c d '.repeat(5000).trim()]
  assert.deepEqual(
    diffWords(long, other, 1500).map(({ kind }) => kind),
    ['removed', 'added'],
  )
})
