import { platformServer, sendJson } from '../channels/platform-server.ts'

/** One message as it arrived at the platform; when it came, and when its answer began to leave, by `performance.now()`. */
export interface Arrival {
  at: number
  answeredAt: number
  to: string
  text: string
  correlator: string
  externalId: string
}

export type SendPlatform = Awaited<ReturnType<typeof sendPlatform>>

let ids = 0

/** A platform that takes every message, notes when it came, and answers when the test lets it. */
export async function sendPlatform() {
  const arrivals: Arrival[] = []
  const server = await platformServer(async ({ method, body }, response) => {
    if (method !== 'POST' || body.status === 'read') return sendJson(response, 200, { id: 'number', success: true })
    const { to, text, biz_opaque_callback_data: correlator } = body
    const times = { at: performance.now(), answeredAt: Number.POSITIVE_INFINITY }
    const arrival = { ...times, to: to.slice(1), text: text.body, correlator, externalId: `wamid.OUT${++ids}` }
    arrivals.push(arrival)
    await platform.hold(arrival)
    arrival.answeredAt = performance.now()
    sendJson(response, 200, { contacts: [{ wa_id: arrival.to }], messages: [{ id: arrival.externalId }] })
  })
  const { baseUrl, close } = server
  const hold: (arrival: Arrival) => Promise<unknown> | undefined = () => undefined
  /** Its answer waits for `hold`. */
  const platform = { baseUrl, close, arrivals, hold }
  return platform
}
