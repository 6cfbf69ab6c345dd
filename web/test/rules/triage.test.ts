import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Activity, Handover, TimelineItem } from '../../src/data/inbox/types.ts'
import { adjacentId, extendSelection } from '../../src/inbox/parts/selection.ts'
import { parseSystemMessage } from '../../src/inbox/parts/system-message.ts'
import { readSnooze, snoozeTimes } from '../../src/inbox/pick/snooze-times.ts'
import { blocksOf } from '../../src/inbox/thread/blocks.ts'
import { withTexts } from '../../src/text/index.ts'

await withTexts(async () => {})

const rows = ['a', 'b', 'c', 'd', 'e'].map((id) => ({ id }))

const ranges: [chosen: string[], anchor: string | null, to: string, all: string[]][] = [
  [[], null, 'c', ['c']],
  [['b'], 'b', 'd', ['b', 'c', 'd']],
  [['d'], 'd', 'b', ['d', 'b', 'c']],
  [['a', 'd'], 'd', 'e', ['a', 'd', 'e']],
  [['gone'], 'gone', 'b', ['gone', 'b']],
]

for (const [chosen, anchor, to, all] of ranges) {
  test(`selecting from ${anchor} to ${to} with ${chosen.join(', ') || 'nothing'} gives ${all.join(', ')}`, () => {
    assert.deepEqual(extendSelection(chosen, anchor, to, rows), all)
  })
}

test('the next conversation follows, for the last one the previous, and outside the list none', () => {
  assert.equal(adjacentId(rows, 'b'), 'c')
  assert.equal(adjacentId(rows, 'e'), 'd')
  assert.equal(adjacentId([{ id: 'a' }], 'a'), null)
  assert.equal(adjacentId(rows, 'x'), undefined)
})

// A Tuesday.
const now = new Date(2026, 7, 4, 15, 30)

const typed: [text: string, until: Date | null][] = [
  ['2h', new Date(2026, 7, 4, 17, 30)],
  ['90 min', new Date(2026, 7, 4, 17, 0)],
  ['3 dias', new Date(2026, 7, 7, 15, 30)],
  ['1w', new Date(2026, 7, 11, 15, 30)],
  ['2 semanas', new Date(2026, 7, 18, 15, 30)],
  ['18:30', new Date(2026, 7, 4, 18, 30)],
  ['9:00', new Date(2026, 7, 5, 9, 0)],
  ['8h15', new Date(2026, 7, 5, 8, 15)],
  ['25:00', null],
  ['0d', null],
  ['999w', null],
  ['tomorrow', null],
  ['12', null],
]

for (const [text, until] of typed) {
  test(`typing “${text}” snoozes ${until === null ? 'not at all' : `until ${until.toString().slice(0, 21)}`}`, () => {
    assert.deepEqual(readSnooze(text, now), until)
  })
}

test('this evening is offered until shortly before it, and a month ends with the next month', () => {
  const namesAt = (time: Date) => snoozeTimes(time).map(({ name }) => name)
  assert.ok(namesAt(now).includes('evening'))
  assert.ok(!namesAt(new Date(2026, 7, 4, 17, 15)).includes('evening'))
  const month = snoozeTimes(new Date(2026, 0, 31, 12)).find(({ name }) => name === 'month')?.until
  assert.deepEqual(month, new Date(2026, 1, 28, 9))
})

const notices: [text: string, words: string, call: string | null][] = [
  ['Missed call', 'Missed call', 'missed'],
  ['Missed video call', 'Missed video call', 'missed'],
  ['Declined call', 'Declined call', 'missed'],
  ['Call (2:05)', 'Call (2:05)', 'answered'],
  ['Video call', 'Video call', 'answered'],
  [
    'Message of a kind that cannot be shown: event_invite',
    'This message can only be viewed on the phone (event invite)',
    null,
  ],
  ['The customer changed their phone number', 'The customer changed their phone number', null],
  ['Call me back', 'Call me back', null],
]

for (const [text, words, call] of notices) {
  test(`the notice “${text}” is parsed as ${call ?? 'no'} call`, () => {
    assert.deepEqual(parseSystemMessage(text), { content: words, call })
  })
}

const ana = { type: 'user', id: 'ana', name: 'Ana' } as const
const agent = 'agent:sales'
const at = '2026-08-04T15:30:00.000Z'

const activity = (
  id: string,
  kind: Activity['kind'],
  to: string | null,
  changes: Partial<Activity> = {},
): TimelineItem => ({
  ...{ type: 'activity', id, at: changes.createdAt ?? at },
  activity: {
    ...{ id, kind, from: null, fromName: null, to, toName: null, snoozedUntil: null },
    ...{ added: [], removed: [], source: null, purpose: null, reason: null, actor: ana, createdAt: at, ...changes },
  },
})

const handover = (id: string, to: Handover['to'], toId: string | null): TimelineItem => ({
  ...{ type: 'handover', id, at },
  handover: {
    ...{ id, from: 'human', fromName: null, to, toId, toName: null, urgency: 'normal' },
    ...{ summary: 'Price agreed.', reason: null, nextStep: null, actor: ana, createdAt: at },
  },
})

const acts: [what: string, items: TimelineItem[], told: string[]][] = [
  ['a takeover', [activity('o', 'owner', 'human'), activity('a', 'assignee', 'ana')], ['o']],
  ['a transfer to an agent', [activity('o', 'owner', agent), activity('a', 'assignee', null)], ['o']],
  [
    'handing back with a note',
    [handover('h', 'agent', 'sales'), activity('o', 'owner', agent), activity('a', 'assignee', null)],
    ['h'],
  ],
  [
    'a handover by an agent to a colleague',
    [activity('o', 'owner', 'human'), activity('a', 'assignee', 'bruna'), handover('h', 'people', 'bruna')],
    ['h'],
  ],
  ['a takeover for someone else', [activity('o', 'owner', 'human'), activity('a', 'assignee', 'bruna')], ['o', 'a']],
  ['a takeover that ends a snooze', [activity('o', 'owner', 'human'), activity('s', 'status', 'open')], ['o', 's']],
  ['an assignment alone', [activity('a', 'assignee', 'ana')], ['a']],
  [
    'two successive actions',
    [activity('o', 'owner', 'human'), activity('a', 'assignee', 'ana', { createdAt: '2026-08-04T15:31:00.000Z' })],
    ['o', 'a'],
  ],
  [
    'simultaneous actions of two people',
    [activity('o', 'owner', 'human'), activity('a', 'assignee', null, { actor: { ...ana, id: 'bruna' } })],
    ['o', 'a'],
  ],
]

for (const [what, items, told] of acts)
  test(`the thread shows ${what} as ${told.length === 1 ? 'one line' : `${told.length} lines`}`, () => {
    const blocks = blocksOf(items, [], null, (moment) => moment.slice(0, 10))
    assert.deepEqual(
      blocks.filter(({ type }) => type !== 'day').map(({ key }) => key),
      told,
    )
  })
