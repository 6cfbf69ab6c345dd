import { mock } from 'node:test'
import { Webhook } from 'standardwebhooks'
import type { ReceivedWebhook } from './webhook-receiver.ts'

/** What the official library makes of a request at a time; throws where it would refuse it. */
export function verifyWebhook(secret: string, { text, headers }: ReceivedWebhook, at: Date): unknown {
  mock.timers.enable({ apis: ['Date'], now: at })
  try {
    return new Webhook(secret).verify(text, headers as Record<string, string>)
  } finally {
    mock.timers.reset()
  }
}
