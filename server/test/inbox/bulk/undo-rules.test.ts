import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type BulkChanges,
  type PreviousState,
  planUndo,
  previousStateOf,
} from '../../../src/inbox/bulk/change-conversations.ts'
import type { Conversation } from '../../../src/inbox/conversation/conversation.ts'

const tomorrow = new Date('2026-03-02T09:00:00.000Z')

function conversation(fields: Partial<Conversation> = {}): Conversation {
  return {
    id: 'one',
    owner: { type: 'human' },
    held: true,
    status: 'open',
    snoozedUntil: null,
    assignedTo: null,
    labelIds: [],
    unreadCount: 0,
    ...fields,
  } as Conversation
}

const nothing = { patch: {}, unreadCount: undefined, isReleased: false, hasConflicts: false }
const former = (fields: Partial<PreviousState> = {}): PreviousState => ({
  ...previousStateOf(conversation(), conversation()),
  ...fields,
})

const cases: [
  what: string,
  now: Partial<Conversation>,
  was: Partial<PreviousState>,
  changes: BulkChanges,
  undone: object,
][] = [
  ['resolved', { status: 'resolved' }, {}, { status: 'resolved' }, { patch: { status: 'open', snoozedUntil: null } }],
  [
    'resolved, then reopened',
    { status: 'open' },
    { status: 'pending' },
    { status: 'resolved' },
    { hasConflicts: true },
  ],
  ['resolved before', { status: 'resolved' }, { status: 'resolved' }, { status: 'resolved' }, {}],
  [
    'snoozed until tomorrow',
    { status: 'snoozed', snoozedUntil: tomorrow },
    { status: 'pending' },
    { status: 'snoozed', snoozedUntil: tomorrow },
    { patch: { status: 'pending', snoozedUntil: null } },
  ],
  [
    'snoozed until tomorrow, then for longer',
    { status: 'snoozed', snoozedUntil: new Date('2026-04-01T00:00:00.000Z') },
    {},
    { status: 'snoozed', snoozedUntil: tomorrow },
    { hasConflicts: true },
  ],
  [
    'resolved from a snooze',
    { status: 'resolved' },
    { status: 'snoozed', snoozedUntil: tomorrow },
    { status: 'resolved' },
    { patch: { status: 'snoozed', snoozedUntil: tomorrow } },
  ],
  ['assigned', { assignedTo: 'ana' }, { assignedTo: 'bo' }, { assignedTo: 'ana' }, { patch: { assignedTo: 'bo' } }],
  ['assigned, then reassigned', { assignedTo: 'cy' }, {}, { assignedTo: 'ana' }, { hasConflicts: true }],
  [
    'assigned while agents could take it',
    { assignedTo: 'ana', held: true },
    { held: false },
    { assignedTo: 'ana' },
    { patch: { assignedTo: null }, isReleased: true },
  ],
  [
    'labelled',
    { labelIds: ['vip', 'late'] },
    { added: ['vip'], removed: ['new'] },
    { labels: { add: ['vip'], remove: ['new'] } },
    { patch: { labels: { add: ['new'], remove: ['vip'] } } },
  ],
  [
    'labelled, then relabelled',
    { labelIds: ['new'] },
    { added: ['vip'], removed: ['new'] },
    { labels: { add: ['vip'], remove: ['new'] } },
    {},
  ],
  [
    'moved to a team and assigned there',
    { teamId: 'sales', assignedTo: 'ana' },
    { teamId: 'desk', assignedTo: 'bo', assignedAfter: 'ana' },
    { teamId: 'sales' },
    { patch: { teamId: 'desk', assignedTo: 'bo' } },
  ],
  [
    'moved to a team, then taken by another person',
    { teamId: 'sales', assignedTo: 'cy' },
    { teamId: null, assignedTo: null, assignedAfter: 'ana' },
    { teamId: 'sales' },
    { patch: { teamId: null, assignedTo: 'cy' }, hasConflicts: true },
  ],
  [
    'moved to a team, then to another',
    { teamId: 'support', assignedTo: 'cy' },
    { teamId: 'desk', assignedTo: 'bo', assignedAfter: 'ana' },
    { teamId: 'sales' },
    { hasConflicts: true },
  ],
  [
    'of another priority',
    { priority: 'high' },
    { priority: null },
    { priority: 'high' },
    { patch: { priority: null } },
  ],
  ['read', {}, { unreadCount: 3 }, { read: true }, { unreadCount: 3 }],
  ['read, then a new message', { unreadCount: 1 }, { unreadCount: 3 }, { read: true }, {}],
  ['read, with an unread count above the cap', {}, { unreadCount: 2e9 }, { read: true }, { unreadCount: 1000 }],
  ['unread', { unreadCount: 1 }, {}, { read: false }, { unreadCount: 0 }],
]

for (const [what, now, was, changes, undone] of cases) {
  test(`undo of a change when it was ${what}`, () => {
    assert.deepEqual(planUndo(conversation(now), former(was), changes), { ...nothing, ...undone })
  })
}
