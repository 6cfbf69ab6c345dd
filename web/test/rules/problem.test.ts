import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { argumentsOf } from '../../../scripts/text-types.ts'
import english from '../../src/text/en/common.json' with { type: 'json' }
import spanish from '../../src/text/es/common.json' with { type: 'json' }
import type { Texts } from '../../src/text/index.ts'
import { textsOf } from '../../src/text/messages.ts'
import portuguese from '../../src/text/pt/common.json' with { type: 'json' }
import { problemPatterns, translateProblem } from '../../src/text/refusals.ts'

const speaking = (catalog: typeof english, language: string) => {
  const { problem } = textsOf(catalog, language) as Pick<Texts, 'problem'>
  return (message: string) => translateProblem(problem, message)
}
const [en, pt, es] = [speaking(english, 'en'), speaking(portuguese, 'pt'), speaking(spanish, 'es')]

const cases: [message: string, en: string, pt: string][] = [
  ['must be an e-mail address', 'Enter a valid email address.', 'Digite um e-mail válido.'],
  ['is required: enter your current password', 'Fill in this field.', 'Preencha este campo.'],
  [
    'is empty, and rows are matched by it',
    'This row has no value in the field used to match leads.',
    'Esta linha não tem valor no campo usado para encontrar os leads.',
  ],
  ['must have at least 12 characters', 'Use at least 12 characters.', 'Use pelo menos 12 caracteres.'],
  ['must be 4096 characters at most', 'Use at most 4096 characters.', 'Use no máximo 4096 caracteres.'],
  ['must have the form ^\\s*[^\\s@]+@[^\\s@]+\\s*$', 'Enter a valid email address.', 'Digite um e-mail válido.'],
  ['must be one of low, high', 'Choose one of these: low, high.', 'Escolha um destes: low, high.'],
  ['must be an ISO 8601 time in the future', 'Choose a time in the future.', 'Escolha um momento no futuro.'],
  [
    'must not be in the future',
    'Choose a time that isn’t in the future.',
    'Escolha um momento que não esteja no futuro.',
  ],
  ['Form with this slug already exists', 'This address is already taken.', 'Este endereço já está em uso.'],
  [
    'A workspace has at most 200 labels. Delete one first.',
    'You can have at most 200. Delete one first.',
    'Você pode ter no máximo 200. Exclua um primeiro.',
  ],
]

for (const [message, english, portuguese] of cases) {
  test(`"${message}" is translated`, () => {
    assert.deepEqual([en(message), pt(message)], [english, portuguese])
  })
}

test('an unknown error text has no translation instead of the English one', () => {
  assert.equal(es('must be made of green cheese'), null)
})

test('named groups of an error pattern are the arguments of its translation', () => {
  for (const [name, form] of Object.entries(problemPatterns)) {
    const taken = [...form.source.matchAll(/\(\?<(\w+)>/g)].map(([, group]) => group)
    const words = english.problem[name as keyof typeof problemPatterns]
    assert.deepEqual(taken.sort(), [...argumentsOf(words).keys()].sort(), name)
  }
})

const server = fileURLToPath(new URL('../../../server/src', import.meta.url))
/** Modules that the app has forms for. Excludes errors that only programs receive: list positions, headers, feeds. */
const modules =
  /^(auth\/(account|credentials|api-keys|members|users)|workspaces|leads|forms|webhooks|erasure|channels\/(connection|health)|inbox\/(media|notes|assignment|team-api)|key-rotation|scenarios)\//
const programs =
  /cursor|Idempotency|sort|Content-Length|JSON object|list of strings|bytes of the file|exactly one of|one status or|alias of|must have a body|header \$|status snoozed|whole numbers from/
const issue = /(['"`])((?:must|is|needs|may|a lead has)\b (?:(?!\1)[^\\]|\\.){3,300})\1/g
const refusal =
  /\b(?:conflict|unprocessable|tooManyRequests|isTaken:|isFull:)\s*\(?\s*(['"`])((?:(?!\1)[^\\]|\\.){3,400})\1/g

function messages(): Map<string, string> {
  const found = new Map<string, string>()
  for (const entry of readdirSync(server, { recursive: true, withFileTypes: true })) {
    const path = relative(server, join(entry.parentPath, entry.name))
    if (!entry.isFile() || !path.endsWith('.ts') || !modules.test(path)) continue
    const text = readFileSync(join(server, path), 'utf8').replace(/^\s*(\/\/|\*|\/\*).*$/gm, '')
    for (const [, , message = ''] of [...text.matchAll(issue), ...text.matchAll(refusal)]) {
      // Placeholders may be numbers or names.
      const filled = message.replace(/\$\{[^}]*\}/g, '7')
      if (!programs.test(filled)) found.set(filled, path)
    }
  }
  return found
}

test('every error that forms can get is translated in each language', () => {
  const found = messages()
  assert.ok(found.size > 80)
  const untranslated = [...found].filter(([message]) => [en, es, pt].some((say) => say(message) === null))
  assert.deepEqual(untranslated, [])
})
