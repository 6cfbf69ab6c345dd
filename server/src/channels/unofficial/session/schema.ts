import { type Static, Type } from 'typebox'
import { maxPhoneLength } from '../../../base/phone/phone.ts'
import { nullable, oneOf, timestamp, titled } from '../../../base/route.ts'
import { closed } from '../../../team/team-schema.ts'
import { baseUrl, name } from '../../connection/fields.ts'
import { sessionStates } from './session.ts'

export interface SessionSettings {
  /** A simulator's address in place of the real network. */
  baseUrl: string | null
}

export const newSessionSchema = Type.Object(
  {
    channel: oneOf(['unofficial'] as const, { description: 'A phone that links us as a device; it is paired next.' }),
    name,
    baseUrl: Type.Optional(Type.String({ ...baseUrl, description: 'A simulator in place of the real network.' })),
  },
  { ...closed, title: 'NewUnofficialConnection' },
)
export type NewSession = Static<typeof newSessionSchema>

export const pairSchema = Type.Object(
  {
    method: oneOf(['qr', 'code'] as const, {
      title: 'PairingMethod',
      description: '`qr`: a code to scan with the phone. `code`: eight characters to type on it.',
    }),
    phone: Type.Optional(
      Type.String({
        maxLength: maxPhoneLength,
        description: 'For `code`: the number of the phone, with its country code.',
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
      '`unpaired`: no phone is linked. `pairing`: it waits for the phone. `connecting`, `open`. `waiting`: the line was lost, and is tried again at `nextAttemptAt`. `stopped`: nothing goes on until somebody pairs it or resumes the connection.',
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
  phone: nullable(
    Type.String({
      maxLength: 20,
      description: 'The digits of the phone that was last linked.',
      example: '5511955501234',
    }),
  ),
  method: nullable(oneOf(['qr', 'code'] as const, { title: 'PairingMethod', description: 'How it is being paired.' })),
  qr: nullable(
    Type.String({
      maxLength: 10_000,
      description: 'What to show as a QR code. It changes several times a minute; the live stream tells.',
    }),
  ),
  pairingCode: nullable(Type.String({ maxLength: 20, description: 'What to type on the phone.', example: 'K7QX2M9P' })),
  shownUntil: nullable(timestamp('When `qr` or `pairingCode` no longer counts.')),
  nextAttemptAt: nullable(timestamp('When it connects again.')),
})
