import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '../../../src/base/errors.ts'
import type { TemplateInputs } from '../../../src/channels/templates/template-inputs.ts'
import { checkHeader, checkInputs } from '../../../src/inbox/send/check-references.ts'
import type { SendCommand } from '../../../src/inbox/send/send-command.ts'

type Command = Extract<SendCommand, { kind: 'template' }>

const header: TemplateInputs = { headerText: { text: 'Order {{1}}', name: 'order' } }
const location: TemplateInputs = { headerLocation: true }
const buttons: TemplateInputs = {
  buttons: [
    { index: 1, type: 'url', text: 'Track', url: 'https://shop.example/{{1}}' },
    { index: 2, type: 'copy_code', text: 'Copy offer code', url: null },
  ],
}
const otp: TemplateInputs = { buttons: [{ index: 0, type: 'otp', text: 'Copy code', url: null }] }
const code = (body: string, button = body): Partial<Command> => ({ parameters: [body], buttonParameters: [button] })
const place = { latitude: -8.05, longitude: -34.9 }

const rows: [inputs: TemplateInputs | null, given: Partial<Command>, result: object | RegExp | null][] = [
  [null, {}, null],
  [null, { headerText: 'A-17' }, /no variable in its header/],
  [null, { headerLocation: place }, /no location header/],
  [null, { buttonParameters: ['A-17'] }, /requires 0 button_params, but got 1/],
  [header, {}, /set header_param/],
  [header, { headerText: ' ' }, /header_param must not be empty/],
  [header, { headerText: 'a\nb' }, /header_param must not contain a newline/],
  [header, { headerText: 'A-17' }, { headerText: { value: 'A-17', name: 'order' } }],
  [location, {}, /set header_location/],
  [location, { headerLocation: place }, { headerLocation: place }],
  [buttons, {}, /requires 2 button_params, but got 0/],
  [buttons, { buttonParameters: ['A 17', 'SAVE10'] }, /button_params\[0\] must not contain a space/],
  [buttons, { buttonParameters: ['A-17', 'x'.repeat(21)] }, /button_params\[1\] must have at most 20/],
  [
    buttons,
    { buttonParameters: ['A-17', 'SAVE10'] },
    {
      buttons: [
        { index: 1, type: 'url', value: 'A-17' },
        { index: 2, type: 'copy_code', value: 'SAVE10' },
      ],
    },
  ],
  [otp, { parameters: ['482913'] }, /requires 1 button_params, but got 0/],
  [otp, code('482913', '482914'), /button_params\[0\] must be the code that is in body_params/],
  [otp, code('1'.repeat(16)), /button_params\[0\] must have at most 15/],
  [otp, code('48👍'), /button_params\[0\] must not contain an emoji/],
  [otp, code('J$FpnYnP'), { buttons: [{ index: 0, type: 'otp', value: 'J$FpnYnP' }] }],
]

test('the values of a header and buttons are checked against what the template needs', () => {
  for (const [inputs, given, result] of rows) {
    const command: Command = { kind: 'template', name: 'a', language: 'en', parameters: [], ...given }
    const label = JSON.stringify([inputs, given])
    if (!(result instanceof RegExp)) {
      assert.deepEqual(checkInputs(command, { inputs }), result, label)
      continue
    }
    assert.throws(
      () => checkInputs(command, { inputs }),
      (error) => error instanceof ApiError && error.statusCode === 422 && result.test(error.message),
      label,
    )
  }
})

test('a header has either an upload or an address that the platform can load', () => {
  const url = 'https://shop.example/a.jpg?size=2'
  const table: [header: 'image' | null, given: Partial<Command>, result: object | RegExp | null][] = [
    [null, {}, null],
    [null, { headerUrl: url }, /no media header/],
    ['image', {}, /set header_upload_id or header_url/],
    ['image', { headerUrl: url }, { kind: 'image', name: 'a.jpg', url }],
    [
      'image',
      { headerUrl: 'https://a.example/%E0%A4' },
      { kind: 'image', name: '%E0%A4', url: 'https://a.example/%E0%A4' },
    ],
    ['image', { headerUrl: 'https://shop.example' }, { kind: 'image', name: null, url: 'https://shop.example' }],
    ['image', { headerUrl: url, headerUploadId: 'x' }, /either header_upload_id or header_url/],
    ['image', { headerUrl: 'https://' }, /must be an https address/],
    ['image', { headerUrl: 'https://a:b@shop.example/a.jpg' }, /must be an https address/],
  ]
  for (const [header, given, result] of table) {
    const command: Command = { kind: 'template', name: 'a', language: 'en', parameters: [], ...given }
    const check = () => checkHeader(command, { header }, null, undefined)
    if (result instanceof RegExp) assert.throws(check, result, JSON.stringify(given))
    else assert.deepEqual(check(), result)
  }
})
