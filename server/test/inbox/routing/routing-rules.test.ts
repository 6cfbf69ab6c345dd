import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AgentKey } from '../../../src/inbox/conversation/owner.ts'
import {
  createRouter,
  nextMember,
  type RoutedMember,
  type RoutedTeam,
  type RoutingRule,
  type RoutingWait,
  type WaitingConversation,
  type WaitStep,
  waitStep,
} from '../../../src/inbox/routing/routing.ts'

const now = new Date('2026-03-10T12:00:00.000Z')
const connection = 'connection'

const member = (userId: string, turn: number, more: Partial<RoutedMember> = {}): RoutedMember => ({
  ...{ userId, turn, isAvailable: true, capacity: null },
  ...more,
})

const team = (assignment: RoutedTeam['assignment'], members: RoutedMember[]): RoutedTeam => ({
  ...{ id: 'team', assignment, answerMinutes: 5, maxReassignments: 3, members },
})

test('the next member is who is available, below the limit, and has waited the longest or has the fewest', () => {
  const rows: [string, RoutedTeam['assignment'], RoutedMember[], loads: Record<string, number>, string | null][] = [
    ['in turn', 'round_robin', [member('a', 3), member('b', 1), member('c', 2)], { b: 9 }, 'b'],
    ['new members first, by id', 'round_robin', [member('a', 3), member('c', 0), member('b', 0)], {}, 'b'],
    ['not who is away', 'round_robin', [member('a', 3), member('b', 1, { isAvailable: false })], {}, 'a'],
    ['not at the limit', 'round_robin', [member('a', 3), member('b', 1, { capacity: 2 })], { b: 2 }, 'a'],
    ['below the limit', 'round_robin', [member('a', 3), member('b', 1, { capacity: 2 })], { b: 1 }, 'b'],
    ['nobody has room', 'least_busy', [member('a', 3, { capacity: 1 })], { a: 1 }, null],
    ['the least busy', 'least_busy', [member('a', 1), member('b', 2)], { a: 2, b: 1 }, 'b'],
    ['of the least busy, in turn', 'least_busy', [member('a', 5), member('b', 2)], { a: 1, b: 1 }, 'b'],
    ['nobody', 'manual', [member('a', 1)], {}, null],
    ['no members', 'round_robin', [], {}, null],
  ]
  for (const [what, assignment, members, loads, wanted] of rows) {
    const next = nextMember({ assignment, members }, new Map(Object.entries(loads)))
    assert.equal(next?.userId ?? null, wanted, what)
  }
  assert.equal(nextMember(team('round_robin', [member('a', 1), member('b', 2)]), new Map(), 'a')?.userId, 'b')
  assert.equal(nextMember(team('round_robin', [member('a', 1)]), new Map(), 'a'), null, 'never who had it')
})

const key = (id: string, more: Partial<AgentKey> = {}): AgentKey => ({
  ...{ id, scopes: ['inbox.write'], connectionIds: [], expiresAt: null, revokedAt: null, answersNew: true },
  ...{ createdAt: new Date(id === 'old' ? 0 : 1000), ...more },
})

interface Routed {
  rule: RoutingRule
  keys?: AgentKey[]
  keyLoads?: Record<string, number>
  isStopped?: boolean
}

function routerFor({ rule, keys = [], keyLoads = {}, isStopped = false }: Routed) {
  const teams = new Map([['team', team('round_robin', [member('a', 0), member('b', 0)])]])
  const state = { ruleOf: () => rule, teams, people: new Map<string, number>() }
  return createRouter({ ...state, keys: new Map(Object.entries(keyLoads)) }, { keys, isStopped, now })
}

test('a new conversation goes to the agent of the rule if it can take one, else to the team, else to people', () => {
  const full = { capacity: 2 }
  const rows: [string, Routed, string][] = [
    ['no rule', { rule: { agent: 'default', teamId: null }, keys: [key('new'), key('old')] }, 'old'],
    ['no agent', { rule: { agent: 'none', teamId: null }, keys: [key('old')] }, 'people'],
    ['a named agent', { rule: { agent: { keyId: 'new' }, teamId: null }, keys: [key('old'), key('new')] }, 'new'],
    [
      'a named agent that answers no new ones by itself',
      { rule: { agent: { keyId: 'new' }, teamId: null }, keys: [key('new', { answersNew: false })] },
      'new',
    ],
    ['a named agent of a key that is gone', { rule: { agent: { keyId: 'x' }, teamId: null }, keys: [] }, 'people'],
    [
      'a named agent without the connection',
      { rule: { agent: { keyId: 'new' }, teamId: 'team' }, keys: [key('new', { connectionIds: ['other'] })] },
      'team a',
    ],
    ['stopped', { rule: { agent: 'default', teamId: 'team' }, keys: [key('old')], isStopped: true }, 'team a'],
    [
      'full, another has room',
      { rule: { agent: 'default', teamId: null }, keys: [key('old', full), key('new')], keyLoads: { old: 2 } },
      'new',
    ],
    [
      'full',
      { rule: { agent: { keyId: 'old' }, teamId: 'team' }, keys: [key('old', full)], keyLoads: { old: 2 } },
      'team a, as the agent was full',
    ],
    [
      'full, without a team',
      { rule: { agent: { keyId: 'old' }, teamId: null }, keys: [key('old', full)], keyLoads: { old: 2 } },
      'people, as the agent was full',
    ],
    ['an agent of a team', { rule: { agent: 'default', teamId: 'team' }, keys: [key('old')] }, 'old of team'],
    ['a team that is gone', { rule: { agent: 'none', teamId: 'gone' } }, 'people'],
  ]
  for (const [what, routed, wanted] of rows) {
    const { owner, teamId, assignedTo, isAgentFull } = routerFor(routed).route(connection)
    const who = owner.type === 'agent' ? owner.keyId : (assignedTo && `team ${assignedTo}`) || 'people'
    const ofTeam = owner.type === 'agent' && teamId !== null ? ' of team' : ''
    assert.equal(`${who}${ofTeam}${isAgentFull ? ', as the agent was full' : ''}`, wanted, what)
  }
})

test('each of several new conversations is decided after the ones before it', () => {
  const rule = { agent: { keyId: 'old' }, teamId: 'team' }
  const { route } = routerFor({ rule, keys: [key('old', { capacity: 2 })], keyLoads: { old: 1 } })
  const whoGot = Array.from({ length: 4 }, () => route(connection)).map(({ owner, assignedTo, turn }) =>
    owner.type === 'agent' ? owner.keyId : `${assignedTo} ${turn}`,
  )
  assert.deepEqual(whoGot, ['old', 'a 1', 'b 2', 'a 3'])
})

test('a wait ends when someone acted, else goes on to the next person, and at last to nobody', () => {
  const wait: RoutingWait = { teamId: 'team', userId: 'a', attempts: 0 }
  const waiting: WaitingConversation = {
    ...{ isOfPeople: true, isOpen: true, isWaiting: true, teamId: 'team', assignedTo: 'a' },
  }
  const rule = { assignment: 'round_robin', maxReassignments: 2 } as const
  const rows: [string, Partial<RoutingWait>, Partial<WaitingConversation>, WaitStep][] = [
    ['not answered', {}, {}, 'assign'],
    ['answered', {}, { isWaiting: false }, 'end'],
    ['an agent has it', {}, { isOfPeople: false }, 'end'],
    ['resolved', {}, { isOpen: false }, 'end'],
    ['someone else has it', {}, { assignedTo: 'b' }, 'end'],
    ['unassigned by hand', {}, { assignedTo: null }, 'end'],
    ['of another team', {}, { teamId: 'other' }, 'end'],
    ['the second did not answer', { attempts: 1 }, {}, 'assign'],
    ['the third did not answer', { attempts: 2 }, {}, 'release'],
    ['nobody was available', { userId: null }, { assignedTo: null }, 'assign'],
    ['nobody was available, then it was taken', { userId: null }, {}, 'end'],
  ]
  for (const [what, asked, conversation, wanted] of rows) {
    assert.equal(waitStep({ ...wait, ...asked }, { ...waiting, ...conversation }, rule), wanted, what)
  }
  assert.equal(waitStep(wait, waiting, undefined), 'end', 'the team is deleted')
  assert.equal(waitStep(wait, waiting, { ...rule, assignment: 'manual' }), 'end', 'the team assigns nobody now')
})
