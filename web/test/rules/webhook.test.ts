import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Delivery, Endpoint } from '../../src/data/webhooks.ts'
import { deliveriesOf, mergeNewestPage } from '../../src/webhooks/delivery-pages.ts'
import { toggleEvent } from '../../src/webhooks/event-choice.ts'
import { endpointStatus, needsAttention } from '../../src/webhooks/status.ts'

const at = '2026-03-01T12:00:00.000Z'

function endpoint(
  state: Endpoint['state'],
  code: 'member' | 'gone' | 'failing' | null,
  health: Partial<Endpoint['health']>,
) {
  const none = { lastSuccessAt: null, failingSince: null, failuresInARow: 0, waiting: 0, oldestWaitingAt: null }
  return {
    state,
    stateReason: code === null ? null : { code, message: '' },
    health: { ...none, nextAttemptAt: null, pausedUntil: null, ...health },
  }
}

test('the status of an endpoint follows from its latest responses, and one disabled by a member is not a problem', () => {
  const cases = [
    [endpoint('active', null, {}), 'new', false],
    [endpoint('active', null, { lastSuccessAt: at }), 'fine', false],
    [endpoint('active', null, { lastSuccessAt: at, failuresInARow: 1, failingSince: at }), 'failing', true],
    [endpoint('active', null, { lastSuccessAt: at, pausedUntil: at }), 'paused', false],
    [endpoint('disabled', 'member', { failuresInARow: 3 }), 'off', false],
    [endpoint('disabled', 'gone', {}), 'gone', true],
    [endpoint('disabled', 'failing', {}), 'stopped', true],
  ] as const
  for (const [one, standing, trouble] of cases) {
    assert.equal(endpointStatus(one), standing)
    assert.equal(needsAttention(standing), trouble)
  }
})

const page = (ids: string[], nextCursor: string | null) => ({
  deliveries: ids.map((eventId) => ({ eventId }) as Delivery),
  nextCursor,
})
const shown = (...pages: ReturnType<typeof page>[]) => ({ pages, pageParams: pages.map(() => null) })
const idsOf = (pages: Parameters<typeof deliveriesOf>[0]) => deliveriesOf(pages).map(({ eventId }) => eventId)

test('a refetched newest page replaces what it covers, and keeps older pages', () => {
  const before = shown(page(['d', 'c'], '1'), page(['b', 'a'], null))
  assert.deepEqual(idsOf(mergeNewestPage(before, page(['e', 'd'], '2'))), ['e', 'd', 'c', 'b', 'a'])
  assert.deepEqual(idsOf(mergeNewestPage(before, page(['e', 'c'], '2'))), ['e', 'c', 'b', 'a'])
  assert.equal(mergeNewestPage(before, page(['e', 'd'], '2')).pages.at(-1)?.nextCursor, null)
  assert.deepEqual(idsOf(mergeNewestPage(before, page(['z', 'y'], '3'))), ['z', 'y'])
  assert.deepEqual(idsOf(mergeNewestPage(before, page([], null))), [])
})

test('a group replaces its events, and leaves those that must be named', () => {
  assert.deepEqual(toggleEvent(['lead.created', 'lead.merged', 'conversation.assigned'], 'lead.*'), [
    'lead.merged',
    'conversation.assigned',
    'lead.*',
  ])
  assert.deepEqual(toggleEvent(['lead.*', 'lead.merged'], 'lead.merged'), ['lead.*'])
})
