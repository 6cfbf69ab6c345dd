import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  agent,
  assigneeAfter,
  human,
  isLockedAfter,
  lockToPeople,
  type Owner,
  takeRefusal,
} from '../../../src/inbox/conversation/owner.ts'
import { type Actor, systemActor } from '../../../src/workspaces/actor.ts'

const [me, other] = ['01985e2a-0000-7000-8000-000000000001', '01985e2a-0000-7000-8000-000000000002']
const user: Actor = { type: 'user', id: other }
const token: Actor = { type: 'token', id: other }
const key: Actor = { type: 'agent', id: me }

const afterOwner: [string, Owner, boolean, Owner, Actor, boolean][] = [
  ['a member takes it over', agent(me), false, human, user, true],
  ['a team token takes it over', agent(me), false, human, token, true],
  ['its agent hands it to people', agent(me), false, human, key, true],
  [
    'the watchdog, the stop switch, an ended key or the phone assigns it to people',
    agent(me),
    false,
    human,
    systemActor,
    true,
  ],
  ['a member takes an untouched one', human, false, human, user, true],
  ['a key sets the owner to people, who own it already', human, false, human, key, false],
  ['it is created for people', human, false, human, systemActor, false],
  ['it is created for an agent', human, false, agent(me), systemActor, false],
  ['people had it, and a key sets the same owner', human, true, human, key, true],
  ['a member hands it to an agent', human, true, agent(me), user, false],
  ['an agent takes it back', human, true, agent(me), key, false],
  ['an agent hands it to another', agent(me), false, agent(other), key, false],
]

for (const [what, owner, held, to, actor, expected] of afterOwner) {
  test(`${what}: ${expected ? 'locked to people' : 'not locked to people'}`, () => {
    assert.equal(isLockedAfter({ owner, held }, to, actor), expected)
  })
}

const third = '01985e2a-0000-7000-8000-000000000003'
const afterAssignee: [string, string | null, Owner, Actor, string | null][] = [
  ['a member takes an unassigned one', null, human, user, user.id],
  ['a member takes one assigned to another', third, human, user, third],
  ['a team token takes an unassigned one', null, human, token, null],
  ['an agent, or the phone, assigns it to people', null, human, systemActor, null],
  ['a member hands an agent their own', user.id, agent(me), user, null],
  ['a member hands an agent one assigned to another', third, agent(me), user, third],
  ['an agent takes it back', third, agent(me), key, third],
]

for (const [what, before, to, actor, expected] of afterAssignee) {
  test(`${what}: ${expected === null ? 'unassigned' : expected === third ? 'assignee unchanged' : 'assigned to the member'}`, () => {
    assert.equal(assigneeAfter(before, to, actor), expected)
  })
}

test('a conversation in which a person writes is locked to people unless an agent owns it', () => {
  assert.equal(lockToPeople({ owner: human, held: false }).held, true)
  assert.equal(lockToPeople({ owner: agent(me), held: false }).held, false)
})

const takes: [
  string,
  Owner,
  boolean,
  Parameters<typeof takeRefusal>[2],
  Parameters<typeof takeRefusal>[3],
  string | null,
][] = [
  ['its own conversation', agent(me), false, 'offered_only', 'when_handed', null],
  ['an untouched one', human, false, 'offered_only', 'when_handed', null],
  ['one of people, by the agent API', human, true, 'offered_only', 'always', 'held_by_people'],
  ['one of people, if agents can take back any', human, true, 'from_agents_too', 'always', null],
  [
    'one of people, if agents can take back only handed-over ones',
    human,
    true,
    'from_agents_too',
    'when_handed',
    'held_by_people',
  ],
  ['an untouched one, with the same setting', human, false, 'from_agents_too', 'when_handed', null],
  ["another agent's, by the agent API", agent(other), false, 'offered_only', 'always', 'of_another_agent'],
  ["another agent's, by the Inbox API", agent(other), false, 'from_agents_too', 'when_handed', null],
]

for (const [what, owner, held, from, takingBack, expected] of takes) {
  test(`an agent takes ${what}: ${expected ?? 'allowed'}`, () => {
    assert.equal(takeRefusal({ owner, held }, me, from, takingBack), expected)
  })
}
