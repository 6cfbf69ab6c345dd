import assert from 'node:assert/strict'
import { test } from 'node:test'
import { argumentsOf, type Catalog, parts, readCatalog } from '../../../scripts/text-types.ts'
import { languages } from '../../src/text/languages.ts'
import { textsOf } from '../../src/text/messages.ts'

/** Returns the messages of a catalog by full name. */
function messagesOf(catalog: Catalog, before = ''): [name: string, message: string][] {
  return Object.entries(catalog).flatMap(([name, one]) => {
    const whole = `${before}${name}`
    return typeof one === 'string' ? [[whole, one] as [string, string]] : messagesOf(one, `${whole}.`)
  })
}

/** Returns the errors of a message: it cannot be parsed, or has other arguments than the English one. */
function faultOf(name: string, message: string, english: string | undefined): string[] {
  if (english === undefined) return [`${name} is not in English`]
  try {
    const [own, meant] = [argumentsOf(message), argumentsOf(english)]
    const unknown = [...own.keys()].filter((one) => !meant.has(one)).map((one) => `${name} has no argument ${one}`)
    const unused = [...meant.keys()].filter((one) => !own.has(one)).map((one) => `${name} leaves out ${one}`)
    const other = [...own].filter(([one, type]) => type !== 'Shown' && meant.has(one) && meant.get(one) !== type)
    return [...unknown, ...unused, ...other.map(([one]) => `${name} chooses by ${one}, as English does not`)]
  } catch (error) {
    return [`${name} cannot be read: ${error instanceof Error ? error.message : error}`]
  }
}

for (const language of Object.keys(languages))
  test(`${language} has every English message once, valid and with the same arguments`, async () => {
    for (const part of parts) {
      const english = new Map(messagesOf(await readCatalog('en', part)))
      const own = new Map(messagesOf(await readCatalog(language, part)))
      const missing = [...english.keys()].filter((name) => !own.has(name)).map((name) => `${name} is missing`)
      const faults = [...own].flatMap(([name, message]) => faultOf(name, message, english.get(name)))
      assert.deepEqual([...missing, ...faults], [], `${language}/${part}.json`)
    }
  })

test('errors in messages name the message', () => {
  const cases: [message: string, english: string, fault: string | undefined][] = [
    ['Olá, {name}', 'Hello {name}', undefined],
    ['{n, plural, one {# lead} other {# leads}}', '{n, plural, one {# lead} other {# leads}}', undefined],
    ['{n} leads', '{n, plural, one {# lead} other {# leads}}', undefined],
    ['{n, plural, one {# lead} other {# leads}}', '{n} leads', 'a.b chooses by n, as English does not'],
    ['Olá', 'Hello {name}', 'a.b leaves out name'],
    ['Olá, {nome}', 'Hello {name}', 'a.b has no argument nome'],
    ['Olá, {name', 'Hello {name}', 'a.b cannot be read: EXPECT_ARGUMENT_CLOSING_BRACE'],
    ['{n, plural, one {#}}', '{n}', 'a.b cannot be read: MISSING_OTHER_CLAUSE'],
  ]
  for (const [message, english, fault] of cases) assert.equal(faultOf('a.b', message, english)[0], fault, message)
})

test('plurals and numbers follow the rules of the language', () => {
  const catalog = { leads: '{n, plural, one {# lead} other {# leads}}', of: "{at} de {length}, '{'n'}'" }
  const cases = [
    ['en', 0, '0 leads'],
    ['pt', 0, '0 leads'],
    ['es', 0, '0 leads'],
    ['es', 1, '1 lead'],
    ['pt', 1_000_000, '1.000.000 leads'],
    ['en', 1_000_000, '1,000,000 leads'],
  ] as const
  for (const [language, n, words] of cases) {
    const { leads } = textsOf(catalog, language) as { leads: (values: { n: number }) => string }
    assert.equal(leads({ n }), words)
  }
  const { of } = textsOf(catalog, 'pt') as { of: (values: { at: string; length: string }) => string }
  assert.equal(of({ at: '0:03', length: '1:20' }), '0:03 de 1:20, {n}')
})
