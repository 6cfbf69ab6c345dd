import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ReceivedWebhook } from '../../../../scripts/cluster/external-services.ts'
import { longestGapMs } from '../../../../scripts/cluster/fault-test/figures.ts'
import {
  type FoundData,
  findViolations,
  type Ledger,
  repeatsOf,
} from '../../../../scripts/cluster/fault-test/guarantees.ts'

const hook = (id: string, step: number | null = null): ReceivedWebhook => ({ at: 0, id, event: 'lead.updated', step })

const toldLedger = (): Ledger => ({
  leads: new Map([['ada', { acknowledged: 1, attempted: 2 }]]),
  callbacks: new Set(['hello']),
  sends: new Map([
    ['key-1', 'sent'],
    ['key-2', 'pending'],
  ]),
})

/** All that was promised, and what may come beside it: a change and a message that no client saw acknowledged, a webhook twice. */
const kept = (): FoundData => ({
  leads: new Map([
    ['ada', 2],
    ['ben', 0],
  ]),
  inbound: new Map([
    ['hello', 1],
    ['unheard', 1],
  ]),
  outbound: new Map([
    ['key-1', 1],
    ['key-2', 1],
  ]),
  events: [
    { id: 'e1', subject: 'ada' },
    { id: 'e2', subject: 'ada' },
    { id: 'e3', subject: 'ben' },
  ],
  webhooks: [hook('e3', 0), hook('e1', 0), hook('e2', 1), hook('e1', 0), hook('of another case')],
  sendRequests: [{ at: 0, text: 'key-1' }],
})

test('a fault test reports nothing if all acknowledged writes exist, and each missing one', () => {
  assert.deepEqual(findViolations(toldLedger(), kept()), [])
  assert.equal(repeatsOf(kept()), 1)
  const cases: [Partial<FoundData>, RegExp[]][] = [
    [{ leads: new Map() }, [/^lead ada was acknowledged and is missing$/]],
    [{ leads: new Map([['ada', 0]]) }, [/^change 1 of lead ada was acknowledged, but it is at 0$/]],
    [{ leads: new Map([['ada', 3]]) }, [/^lead ada is at change 3, which was never requested$/]],
    [{ inbound: new Map() }, [/^the callback of "hello" was acknowledged/]],
    [{ inbound: new Map([['hello', 2]]) }, [/^the message "hello" exists 2 times$/]],
    [{ outbound: new Map([['key-1', 1]]) }, [/^the send "key-2" was acknowledged, but its message is missing$/]],
    [{ sendRequests: [] }, [/^"key-1" was acknowledged as sent, but never reached the platform$/]],
    [{ sendRequests: [0, 1].map((at) => ({ at, text: 'key-1' })) }, [/^"key-1" reached the platform 2 times$/]],
    [{ webhooks: [hook('e1'), hook('e2')] }, [/^event e3 of ben was never delivered$/]],
    [{ webhooks: [hook('e2'), hook('e1'), hook('e3')] }, [/^event e2 of ada was delivered before an earlier one$/]],
    // The feed has them in this order, and the bodies say that it is the wrong one.
    [{ webhooks: [hook('e1', 2), hook('e2', 1), hook('e3')] }, [/^lead ada: change 1 was delivered after 2$/]],
  ]
  for (const [change, expected] of cases) {
    const problems = findViolations(toldLedger(), { ...kept(), ...change })
    assert.equal(problems.length, expected.length, problems.join())
    for (const [n, pattern] of expected.entries()) assert.match(problems[n] ?? '', pattern)
  }
})

test('the outage is the longest time without a write, including the ends', () => {
  const cases: [moments: number[], fromMs: number, toMs: number, expected: number][] = [
    [[10, 20, 90, 100], 0, 110, 70],
    // What was before it began is no part of it.
    [[10, 90, 100], 60, 110, 30],
    [[10, 20], 0, 200, 180],
    [[20, 10, 30], 5, 35, 10],
    [[], 5, 35, 30],
  ]
  for (const [moments, fromMs, toMs, expected] of cases) assert.equal(longestGapMs(moments, fromMs, toMs), expected)
})
