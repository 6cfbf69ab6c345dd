import { type Static, Type } from 'typebox'
import { maxPhoneLength } from '../../../base/phone/phone.ts'
import { nullable, oneOf, timestamp, titled } from '../../../base/route.ts'
import { text } from '../../../base/schema-types.ts'
import { closed } from '../../../team/team-schema.ts'
import { baseUrl, name } from '../../connection/fields.ts'
import { sessionStates } from './session.ts'

export interface SessionSettings {
  /** Simulator URL; null for the real network. */
  baseUrl: string | null
}

export const newSessionSchema = Type.Object(
  {
    channel: oneOf(['unofficial'] as const, { description: 'A phone that links Parley as a device; pair it next.' }),
    name,
    baseUrl: Type.Optional(
      Type.String({ ...baseUrl, description: 'URL of a simulator to use instead of the real network.' }),
    ),
  },
  { ...closed, title: 'NewUnofficialConnection' },
)
export type NewSession = Static<typeof newSessionSchema>

export const pairSchema = Type.Object(
  {
    method: oneOf(['qr', 'code'] as const, {
      title: 'PairingMethod',
      description: '`qr`: a code to scan with the phone. `code`: eight characters to type on the phone.',
    }),
    phone: Type.Optional(
      text(maxPhoneLength, "Required for `code`: the phone's number, with country code.", {
        example: '+55 11 95550-1234',
      }),
    ),
  },
  closed,
)
export type PairInput = Static<typeof pairSchema>

export const sessionSchema = titled('ConnectionSession', {
  state: oneOf(sessionStates, {
    description:
      '`unpaired`: no phone is linked. `pairing`: waiting for the phone. `connecting`, `open`. `waiting`: the connection was lost; the next attempt is at `nextAttemptAt`. `stopped`: stopped until a member pairs it or resumes the connection.',
  }),
  reason: nullable(
    Type.String({
      maxLength: 50,
      description:
        'Why it is not open: `never_paired`, `pairing`, `reconnecting`, `logged_out`, `replaced`, `banned_temporarily`, `forbidden`, `banned`, `client_outdated`, `bad_user_agent`, `device_mismatch`, `bad_session`, `pairing_ended`, `network_unreachable`, `baileys_missing`, `number_taken`.',
      example: 'pairing',
    }),
  ),
  stateChangedAt: timestamp('When the state or its reason last changed.'),
  paired: Type.Boolean({ description: 'Whether a phone is linked.' }),
  phone: nullable(text(20, 'Digits of the phone that was linked last.', { example: '5511955501234' })),
  method: nullable(oneOf(['qr', 'code'] as const, { title: 'PairingMethod', description: 'The pairing method.' })),
  qr: nullable(
    text(10_000, 'Text to show as a QR code. Changes several times a minute; the live stream reports changes.'),
  ),
  pairingCode: nullable(text(20, 'Code to type on the phone.', { example: 'K7QX2M9P' })),
  shownUntil: nullable(timestamp('When `qr` or `pairingCode` expires.')),
  nextAttemptAt: nullable(timestamp('When it next tries to connect.')),
})
