import type { TSchema } from 'typebox'
import type { Keyring } from '../base/sealing/keyring.ts'
import type { EventName } from './event-groups.ts'
import type { PresentPayload } from './feed.ts'
import type { NewEvent } from './record.ts'

/** All that is said of an event, beside the change that records it. Its name says its face. */
export interface EventKind {
  /** When it fires and what its body has, for people who choose. */
  guide: string
  /** The shape of its body. */
  schema: TSchema
  /** One of an invented lead or conversation, made as a true one is: for tests of webhooks and their documentation. */
  sample(subjectId: string, at: Date): NewEvent
  /** The body as it is shown whole, where more is recorded for the mask alone. */
  show?(payload: Record<string, unknown>): object
  /** The body as it is shown where phones are masked. */
  mask(payload: Record<string, unknown>, keyring: Keyring): object
}

export type EventCatalogue = Readonly<Record<EventName, EventKind>>

/** Shows payloads as the rooms that record them say. */
export const presentBy =
  (catalogue: EventCatalogue): PresentPayload =>
  (name, payload, { keyring, masked }) => {
    if (!masked) return catalogue[name]?.show?.(payload) ?? payload
    // One that a newer version has recorded: nobody here knows where it has a phone.
    return catalogue[name]?.mask(payload, keyring) ?? {}
  }
