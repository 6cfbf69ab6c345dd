import { mock } from 'node:test'
import { Webhook } from 'standardwebhooks'
import type { ReceivedWebhook } from './webhook-receiver.ts'

/** Verifies a request with the official library at a given time; throws where it would reject it. */
export function verifyWebhook(secret: string, { text, headers }: ReceivedWebhook, at: Date): unknown {
  mock.timers.enable({ apis: ['Date'], now: at })
  try {
    return new Webhook(secret).verify(text, headers as Record<string, string>)
  } finally {
    mock.timers.reset()
  }
}
