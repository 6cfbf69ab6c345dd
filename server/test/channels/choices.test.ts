import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Choices, findChoicesProblem } from '../../src/channels/interactive-options.ts'

const buttons = (...titles: string[]): Choices => ({ buttons: titles.map((title, n) => ({ id: `${n}`, title })) })
const list = (rows: object[], button = 'See'): Choices => ({ list: { button, rows: rows as never } })
const row = (more: object = {}) => ({ id: 'a', title: 'Monday', ...more })

const judged: [what: string, text: string, choices: Choices, field: string | null][] = [
  ['what fits in everything', 'x'.repeat(1024), buttons('x'.repeat(20), 'y', 'z'), null],
  ['lines in the text', 'One\ntwo', buttons('Yes'), null],
  ['a blank text', ' \n', buttons('Yes'), 'choices.text'],
  ['emoji that are 1,026 units', '😀'.repeat(513), buttons('Yes'), 'choices.text'],
  ['a blank button', 'Which?', buttons('Yes', ' '), 'choices.buttons[1].title'],
  ['a button of 11 emoji, which are 22 units', 'Which?', buttons('😀'.repeat(11)), 'choices.buttons[0].title'],
  ['a button of two lines', 'Which?', buttons('a\nb'), 'choices.buttons[0].title'],
  ['two buttons of one title', 'Which?', buttons('Yes', 'No', 'Yes'), 'choices.buttons[2].title'],
  ['two buttons of one id', 'Which?', { buttons: [row(), row({ title: 'Tuesday' })] }, 'choices.buttons[1].id'],
  ['a blank footer', 'Which?', { ...buttons('Yes'), footer: ' ' }, 'choices.footer'],
  ['a list that fits', 'Which?', list([row({ description: 'x'.repeat(72) })]), null],
  ['a list whose button is blank', 'Which?', list([row()], '\u00a0'), 'choices.list.button'],
  ['a blank row', 'Which?', list([row({ title: '\u2003' })]), 'choices.list.rows[0].title'],
  ['a row with a tab below', 'Which?', list([row({ description: 'a\tb' })]), 'choices.list.rows[0].description'],
  ['two rows of one title', 'Which?', list([row(), row({ id: 'b' })]), 'choices.list.rows[1].title'],
]
for (const [what, text, choices, field] of judged) {
  test(`choices with ${what} ${field === null ? 'are valid' : `are rejected, naming ${field}`}`, () => {
    const problem = findChoicesProblem(text, choices)
    if (field === null) assert.equal(problem, null)
    else assert.ok(problem?.startsWith(`${field} `), String(problem))
  })
}
