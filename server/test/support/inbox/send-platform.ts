import { platformServer, sendJson } from '../channels/platform-server.ts'

/** One message as it arrived at the platform. */
export interface Arrival {
  /** By `performance.now()` of this process. */
  at: number
  /** When its answer began to leave. */
  answeredAt: number
  to: string
  text: string
  correlator: string
  externalId: string
}

export interface SendPlatform {
  baseUrl: string
  /** Every message that it took, in order of arrival. */
  arrivals: Arrival[]
  /** The platform's answer waits for this. */
  hold: (arrival: Arrival) => Promise<unknown> | undefined
  close(): Promise<void>
}

let ids = 0

/** A platform that takes every message, notes when it came, and answers when the test lets it. */
export async function sendPlatform(): Promise<SendPlatform> {
  const server = await platformServer(async ({ method, body }, response) => {
    if (method !== 'POST' || body.status === 'read') return sendJson(response, 200, { id: 'number', success: true })
    const arrival: Arrival = {
      at: performance.now(),
      answeredAt: Number.POSITIVE_INFINITY,
      to: body.to.slice(1),
      text: body.text.body,
      correlator: body.biz_opaque_callback_data,
      externalId: `wamid.OUT${++ids}`,
    }
    platform.arrivals.push(arrival)
    await platform.hold(arrival)
    arrival.answeredAt = performance.now()
    sendJson(response, 200, { contacts: [{ wa_id: arrival.to }], messages: [{ id: arrival.externalId }] })
  })
  const platform: SendPlatform = {
    baseUrl: server.baseUrl,
    arrivals: [],
    hold: () => undefined,
    close: server.close,
  }
  return platform
}
