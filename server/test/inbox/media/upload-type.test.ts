import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { MediaKind } from '../../../src/channels/channel-event.ts'
import { cloudLimits } from '../../../src/channels/waba/cloud-media.ts'
import { typeToSend } from '../../../src/inbox/media/inspect-file.ts'

const docx = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'

const cases: [kind: MediaKind, realType: string | null, declared: string | null, expected: string | null][] = [
  ['image', 'image/png', null, 'image/png'],
  ['image', 'image/png', 'text/html', 'image/png'],
  ['image', 'image/gif', 'image/png', null],
  ['image', null, 'image/png', null],
  ['image', null, 'image/svg+xml', null],
  ['image', 'application/pdf', 'image/png', null],
  ['audio', 'audio/x-m4a', null, 'audio/mp4'],
  ['audio', 'video/mp4', 'audio/mp4', 'audio/mp4'],
  ['voice', 'video/mp4', null, null],
  ['voice', 'audio/ogg', null, 'audio/ogg'],
  ['voice', 'audio/mpeg', 'audio/ogg', null],
  ['video', 'video/webm', 'video/mp4', null],
  ['sticker', 'image/webp', null, 'image/webp'],
  ['document', 'application/pdf', null, 'application/pdf'],
  ['document', 'application/x-cfb', 'application/msword', 'application/msword'],
  ['document', 'application/x-cfb', docx, null],
  ['document', 'application/x-cfb', null, null],
  ['document', 'application/zip', docx, docx],
  ['document', 'application/zip', 'application/zip', null],
  ['document', null, 'text/csv', 'text/csv'],
  ['document', null, 'text/html', null],
  ['document', null, 'application/pdf', null],
  ['document', null, null, null],
]

for (const [kind, realType, declared, expected] of cases) {
  test(`${realType} declared as ${declared} is sent as ${kind} of type ${expected}`, () => {
    const look = { kind, realType, declared, isText: true }
    assert.equal(typeToSend(look, cloudLimits[kind]?.types ?? []), expected)
  })
}

test('a file with a NUL is not text, whatever is declared', () => {
  const look = { kind: 'document', realType: null, declared: 'text/plain', isText: false } as const
  assert.equal(typeToSend(look, ['text/plain']), null)
})
