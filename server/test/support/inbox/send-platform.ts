import { platformServer, sendJson } from '../channels/platform-server.ts'

/** Message as it arrived at the platform; times of arrival and of the start of the answer by `performance.now()`. */
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

/** Starts a platform that accepts every message, records its arrival, and answers when the test allows it. */
export async function sendPlatform() {
  const arrivals: Arrival[] = []
  const server = await platformServer(async ({ method, body }, response) => {
    if (method !== 'POST' || body.status === 'read') return sendJson(response, 200, { id: 'number', success: true })
    const { to, text, biz_opaque_callback_data: correlator } = body
    const times = { at: performance.now(), answeredAt: Number.POSITIVE_INFINITY }
    const arrival = { ...times, to: to.slice(1), text: text.body, correlator, externalId: `wamid.OUT${++ids}` }
    arrivals.push(arrival)
    await platform.delayAnswer(arrival)
    arrival.answeredAt = performance.now()
    sendJson(response, 200, { contacts: [{ wa_id: arrival.to }], messages: [{ id: arrival.externalId }] })
  })
  const { baseUrl, close } = server
  const delayAnswer: (arrival: Arrival) => Promise<unknown> | undefined = () => undefined
  /** `hold` delays the answer. */
  const platform = { baseUrl, close, arrivals, delayAnswer }
  return platform
}
