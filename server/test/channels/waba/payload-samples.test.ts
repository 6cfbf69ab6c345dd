import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { meaningOf, parseError } from '../../../src/channels/waba/errors.ts'
import { resultOf } from '../../../src/channels/waba/sender.ts'
import { parseTemplate } from '../../../src/channels/waba/templates.ts'
import { parsed } from '../../support/channels/waba-payloads.ts'

// Third-party samples, not part of the repository: pass their folder to test them.
const folder = process.env.PAYLOAD_SAMPLES ?? ''
const skip = existsSync(folder) ? false : 'PAYLOAD_SAMPLES names no folder of samples'
const parts = ['cloud', 'coexistence', 'malformed', 'templates', 'edge']

function filesOf(part: string): string[] {
  const path = join(folder, part)
  return existsSync(path) ? readdirSync(path).filter((name) => name.endsWith('.json')) : []
}

const load = (part: string, name: string) => JSON.parse(readFileSync(join(folder, part, name), 'utf8'))

/** Expected result by the sample's name: the first matching pattern applies. */
const outcomes: [pattern: RegExp, types: string][] = [
  [/group|deleted|status-unknown|value-errors|no-from|invalid-from/, ''],
  [/restriction/, 'account_restricted'],
  [/user-preferences/, 'marketing_preference'],
  // The sender is a placeholder.
  [/^inbound-revoke/, ''],
  [/revoke/, 'withdrawn'],
  [/reaction-removed/, 'reaction_lifted'],
  [/declined|sync-remove|empty-entry|other-object|unknown-field|signatures/, ''],
  [/unknown-phone-number-id/, 'message'],
  [/changed-number/, 'customer_changed message'],
  [/identity-changed/, 'message'],
  [/^calls-/, 'contact_opened'],
  [/^smb-echo/, 'echo'],
  [/^smb-app-state-sync-add/, 'contact_named'],
  [/^history-chunk/, 'history history history history'],
  [/^account-update/, 'connection_state'],
  [/^template-/, 'templates_changed'],
  [/status-/, 'status'],
  [/./, 'message'],
]

for (const part of skip ? [] : parts) {
  for (const name of filesOf(part).filter((each) => !each.startsWith('signature'))) {
    test(`sample ${part}/${name} is parsed`, () => {
      const [, types] = outcomes.find(([pattern]) => pattern.test(name)) ?? assert.fail()
      const sample = load(part, name)
      // One recording contains several callbacks under separate names.
      for (const callback of sample.firstMessage ? [sample.firstMessage, sample.secondMessage] : [sample]) {
        const { items, skipped } = parsed(callback)
        assert.equal(items.map((item) => item.event.type).join(' '), types)
        assert.ok(!skipped.includes('item that could not be parsed'))
        for (const { event } of items) {
          if (event.type !== 'message') continue
          assert.ok(event.customer.phone !== null || event.customer.userId !== null)
          assert.equal(event.opensWindow, !name.startsWith('system-'))
          assert.equal(event.referral !== null, /referral/.test(name))
        }
      }
    })
  }
}

test('answers of the platform in the samples', { skip }, () => {
  for (const name of filesOf('api')) {
    const sample = load('api', name)
    const answered = (status: number, body: unknown) =>
      resultOf({ outcome: 'answered', status, body: JSON.stringify(body) })
    if (name.startsWith('error-')) {
      const error = parseError(sample.body)
      assert.ok(error && name.includes(String(error.code)), name)
      const { outcome } = answered(sample.http_status, sample.body)
      assert.equal(outcome, meaningOf(error, sample.http_status).outcome)
    } else if (name.startsWith('send-')) {
      const result = answered(200, sample)
      assert.ok(result.outcome === 'accepted', name)
      if (name.includes('brazil')) assert.ok(result.platformUserPhone)
    } else {
      assert.ok(!sample.data.map(parseTemplate).includes(null), name)
    }
  }
})
