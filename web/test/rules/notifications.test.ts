import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Notification } from '../../src/data/notifications.ts'
import { hasVisibleUnread, newNotifications, type ViewState } from '../../src/notifications/notification-rules.ts'

const at = (minute: number) => `2026-03-10T12:${String(minute).padStart(2, '0')}:00.000Z`

const notice = (minute: number, conversationId: string | null = 'a', readAt: string | null = null): Notification => ({
  id: String(minute),
  kind: 'mention',
  count: 1,
  actor: null,
  conversation: conversationId === null ? null : { id: conversationId, name: null, phone: null },
  connection: null,
  reason: null,
  createdAt: at(minute),
  readAt,
})

const elsewhere: ViewState = { conversationId: null, isVisible: true }
const atA: ViewState = { conversationId: 'a', isVisible: true }
const awayFromA: ViewState = { conversationId: 'a', isVisible: false }

const fresh: [what: string, notices: Notification[], looking: ViewState, told: string[]][] = [
  ['none', [], elsewhere, []],
  ['newer ones, oldest first', [notice(3), notice(2), notice(1)], elsewhere, ['2', '3']],
  ['none that were read', [notice(3, 'a', at(4)), notice(2)], elsewhere, ['2']],
  ['none of the visible conversation', [notice(3), notice(2, 'b')], atA, ['2']],
  ['those of an open conversation on a hidden page', [notice(3), notice(2, 'b')], awayFromA, ['2', '3']],
  ['those without a conversation', [notice(3, null)], atA, ['3']],
  ['at most the three newest', [6, 5, 4, 3, 2].map((n) => notice(n, 'b')), elsewhere, ['4', '5', '6']],
]

for (const [what, notices, looking, told] of fresh) {
  test(`new notifications: ${what}`, () => {
    assert.deepEqual(
      newNotifications(notices, at(1), looking).map(({ id }) => id),
      told,
    )
  })
}

const seen: [what: string, notices: Notification[], looking: ViewState, isSeen: boolean][] = [
  ['unread, of the open conversation', [notice(1)], atA, true],
  ['read, of the open conversation', [notice(1, 'a', at(2))], atA, false],
  ['of another conversation', [notice(1, 'b')], atA, false],
  ['on a hidden page', [notice(1)], awayFromA, false],
  ['without a conversation, on another page', [notice(1, null)], elsewhere, false],
]

for (const [what, notices, looking, isSeen] of seen) {
  test(`${what}: ${isSeen ? 'marked as read' : 'unchanged'}`, () => {
    assert.equal(hasVisibleUnread(notices, looking), isSeen)
  })
}
