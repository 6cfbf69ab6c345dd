import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseLinks } from '../../../../web/src/shared/markup/link-rules.ts'
import { clientAddress } from '../../../src/auth/api-keys/authenticate.ts'
import { deviceOf } from '../../../src/auth/sign-in/visitor.ts'
import { maskNumbersIn } from '../../../src/base/phone/mask.ts'
import { parsePhone } from '../../../src/base/phone/phone.ts'
import { foldText } from '../../../src/base/text/search-text.ts'
import { fillBody, parseBody } from '../../../src/channels/templates/templates.ts'
import { parseJid } from '../../../src/channels/unofficial/parse/jid.ts'
import type { PublicForm } from '../../../src/forms/form/form.ts'
import type { FormField } from '../../../src/forms/form/schema.ts'
import { parseSubmission } from '../../../src/forms/submit/submission.ts'
import { parseLooseQuery } from '../../../src/forms/submit/visitor.ts'
import { textsFor } from '../../../src/http/pages/page.ts'
import { parseQuery } from '../../../src/http/server/request-body.ts'
import { splitText } from '../../../src/inbox/send/send-checks.ts'
import { parseIdempotencyKey } from '../../../src/inbox/send/send-command.ts'
import { customFieldTypes } from '../../../src/leads/lead/custom-fields.ts'
import { parsePhones } from '../../../src/leads/lead/input.ts'
import { parseSearchTerm } from '../../../src/leads/lead/search-lines.ts'
import { csvLine, guardCell, unguardCell } from '../../../src/leads/transfer/file/cells.ts'
import { parseFileAmount } from '../../../src/leads/transfer/file/field-values.ts'

const fields: FormField[] = customFieldTypes.map((type) => ({ key: `my_${type}`, label: type, type, required: false }))
const form = { fields: [...fields, { key: 'phone', label: 'Phone', type: 'phone', required: false }] } as PublicForm

/** All functions that process texts of strangers. */
const readers: [name: string, read: (text: string) => unknown][] = [
  ['a phone', (text) => parsePhone(text, 'BR')],
  ['an identifier', (text) => parsePhones(text, 'BR')],
  ...form.fields.map(({ key }): [string, (text: string) => unknown] => [
    `the field ${key} of a form`,
    (text) => parseSubmission(form, { [key]: text }, { k_a: text, utm_b: text }, true),
  ]),
  ['an address', (text) => parseQuery(text)],
  ['the address of a form', (text) => parseLooseQuery(`/f/form?${text}`)],
  ['a term of the search', parseSearchTerm],
  ['text that is searched', foldText],
  ['the links of a message', parseLinks],
  ['the numbers of a message', maskNumbersIn],
  ['the parts of a message', (text) => splitText(text, 4096)],
  ['an Idempotency-Key', (text) => attempt(() => parseIdempotencyKey(text))],
  ['a quoted Idempotency-Key', (text) => attempt(() => parseIdempotencyKey(`"${text}"`))],
  ['a template', (text) => [parseBody(text, false), fillBody(text, ['1'])]],
  ['an address of a phone', parseJid],
  ['cells of a file', (text) => [guardCell(text, ','), unguardCell(text), csvLine([text], ',')]],
  ['an amount of a file', (text) => [parseFileAmount(text, null), parseFileAmount(text, ',')]],
  ['Accept-Language', (text) => textsFor({ 'accept-language': text })],
  ['User-Agent', deviceOf],
  ['X-Forwarded-For', (text) => clientAddress('127.0.0.1', text, () => true)],
]

function attempt(work: () => unknown): unknown {
  try {
    return work()
  } catch (error) {
    return error
  }
}

const pumps = ` (|(| |1|1.|a|a.|a@|.|-|/|=|&a=|%|"|\\"|'|{{|{{1}}|\n|\n |! |http://|www.|www.a|\u0301|é|😀|,|;q=|[|a,|+|@|Edg`
const texts = pumps.split('|').flatMap((pump) => ['', 'x', 'https://'].map((start) => ({ start, pump })))

const shortLength = 4_096
const longLength = 32_768
/** CPU time below which measurements are noise. */
const floorMs = 20

for (const [name, read] of readers) {
  test(`${name}: parsing time is linear in the length of the text`, () => {
    for (const { start, pump } of texts) {
      const textOf = (length: number) => `${start}${pump.repeat(length / pump.length)}x\0`
      const hint = `${start}${JSON.stringify(pump)}`
      assert.ok(
        isInProportion(
          () => read(textOf(shortLength)),
          () => read(textOf(longLength)),
        ),
        hint,
      )
    }
  })
}

/** Eight times the text takes eight times as long; with quadratic growth it would be 64 times. */
function isInProportion(short: () => unknown, long: () => unknown): boolean {
  if (cpuMs(long) < floorMs) return true
  for (let round = 0; round < 2; round++) {
    const [once, eightfold] = [least(short), least(long)]
    if (eightfold < floorMs || eightfold / once < 24) return true
  }
  return false
}

const least = (work: () => unknown) => Math.min(cpuMs(work), cpuMs(work))

function cpuMs(work: () => unknown): number {
  const before = process.threadCpuUsage()
  work()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1000
}
