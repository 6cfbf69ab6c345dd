import assert from 'node:assert/strict'
import { test } from 'node:test'
import { emailKey, emailKeys, readableDomains } from '../../../src/base/text/email.ts'

test('all forms of an address have one key, and other addresses have others', () => {
  const rows: [key: string, ...spellings: string[]][] = [
    [
      'marina@example.com',
      'marina@example.com',
      'Marina@EXAMPLE.com',
      '  marina@example.com\n',
      'ｍarina＠example．com',
    ],
    ['zoë@example.com', 'ZOË@example.com', 'zoe\u0308@example.com'],
    ['ana@xn--mnchen-3ya.de', 'ana@münchen.de', 'Ana@MÜNCHEN.DE', 'ana@XN--MNCHEN-3YA.de', 'ana@mu\u0308nchen.de'],
    ['ana@xn--strae-oqa.de', 'ana@straße.de', 'ANA@xn--strae-oqa.de'],
    ['ana@strasse.de', 'ana@STRASSE.de'],
    ['ana@xn--fsqu00a.xn--0zwm56d', 'ana@例子.测试', 'ana@例子。测试', 'ana@xn--fsqu00a.测试'],
    ['ana@mail.xn--e1afmkfd.xn--p1ai', 'ana@mail.пример.рф', 'ANA@Mail.ПРИМЕР.РФ'],
    ['"a@b"@example.com', '"A@B"@Example.com'],
    ['ana', 'ANA'],
    ['ana@', 'Ana@'],
    ['ana@[127.0.0.1', 'ana@[127.0.0.1'],
    ['', ' '],
  ]
  for (const [key, ...spellings] of rows) {
    for (const spelling of spellings) {
      assert.equal(emailKey(spelling), key, spelling)
      assert.equal(emailKeys(spelling)[0], key, spelling)
    }
  }
  assert.equal(new Set(rows.map(([key]) => key)).size, rows.length)
})

test('an address is found under the keys of former rules', () => {
  assert.deepEqual(emailKeys('marina@example.com'), ['marina@example.com'])
  for (const typed of ['Ana@München.de', 'ana@xn--mnchen-3ya.de'])
    for (const former of ['ana@münchen.de', 'ana@xn--mnchen-3ya.de'])
      assert.ok(emailKeys(typed).includes(former), `${typed}: ${former}`)
})

test('domains are decoded to Unicode and nothing else changes', () => {
  const rows: [text: string, readable: string][] = [
    ['ana@xn--mnchen-3ya.de', 'ana@münchen.de'],
    ['XN--MNCHEN-3YA', 'münchen'],
    ['a@xn--fsqu00a.xn--0zwm56d or b@c.de', 'a@例子.测试 or b@c.de'],
    ['xn--', 'xn--'],
    ['axn--mnchen-3ya', 'axn--mnchen-3ya'],
    ['xn--\u0000', 'xn--\u0000'],
  ]
  for (const [text, readable] of rows) assert.equal(readableDomains(text), readable, text)
})
