import { unavailable } from '../../base/errors.ts'
import type { Step } from '../scenario/scenario-schema.ts'

/** A business number of the simulator. */
export interface SimulatedNumber {
  numberId: string
  accountId: string
  phone: string
  accessToken: string
  appSecret: string
  verifyToken: string
}

/** A customer of the simulator, with the messages on their phone. */
export interface SimulatedCustomer {
  id: string
  phone: string
  messages: {
    id: string
    from: 'customer' | 'business' | 'device'
    text: string
    offer: { options: { id: string; title: string }[] } | null
  }[]
}

/** The control API of a simulator. */
export interface SimulatorClient {
  addNumber(name: string): Promise<SimulatedNumber>
  setCallback(numberId: string, callbackUrl: string): Promise<void>
  removeNumber(numberId: string): Promise<void>
  addTemplate(template: object): Promise<void>
  addCustomer(numberId: string, name: string): Promise<SimulatedCustomer>
  readCustomer(customerId: string): Promise<SimulatedCustomer>
  changeCustomer(customerId: string, changes: object): Promise<void>
  /** Sends a message as the customer. */
  write(
    customerId: string,
    message: { kind?: SentKind; text?: string; about?: string; choiceId?: string },
  ): Promise<void>
}

export type SentKind = Extract<Step, { send: unknown }>['send']

const answerWithinMs = 10_000

/** Calls the simulator at this address, which is a setting of the operator. */
export function openSimulator(url: string): SimulatorClient {
  const ask = async <T>(method: string, path: string, body?: object): Promise<T> => {
    const response = await fetch(`${url}/simulator${path}`, {
      method,
      ...(body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(answerWithinMs),
    }).catch(() => {
      throw unavailable(`The simulator at ${url} does not answer. Start it, or correct PARLEY_SIMULATOR_URL`)
    })
    const answer = (await response.json()) as T & { statusMessage?: string }
    if (!response.ok) throw new SimulatorRefusal(response.status, answer.statusMessage ?? '')
    return answer
  }
  return {
    addNumber: async (name) => {
      const number = await ask<SimulatedNumber>('POST', '/numbers', { name, phone: randomPhone('1555') })
      await ask('PATCH', `/numbers/${number.numberId}`, { freeServiceMessages: 0 })
      return number
    },
    setCallback: async (numberId, callbackUrl) => void (await ask('PATCH', `/numbers/${numberId}`, { callbackUrl })),
    removeNumber: async (numberId) => void (await ask('DELETE', `/numbers/${numberId}`)),
    addTemplate: async (template) => {
      await ask('POST', '/templates', template).catch((error: unknown) => {
        // All numbers of a simulator share the templates: an earlier run has added it.
        if (!(error instanceof SimulatorRefusal && error.status < 500)) throw error
      })
    },
    addCustomer: (numberId, name) => ask('POST', '/customers', { numberId, name, phone: randomPhone('5511955') }),
    readCustomer: (customerId) => ask('GET', `/customers/${customerId}`),
    changeCustomer: async (customerId, changes) => void (await ask('PATCH', `/customers/${customerId}`, changes)),
    write: async (customerId, message) => void (await ask('POST', `/customers/${customerId}/messages`, message)),
  }
}

/** The simulator does not take what it was sent. */
export class SimulatorRefusal extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(`The simulator refused (${status}): ${message}`)
    this.status = status
  }
}

/** Returns a number that no earlier run has used; its beginning shows that it is invented. */
function randomPhone(beginning: string): string {
  const [random = 0] = crypto.getRandomValues(new Uint32Array(1))
  const length = (beginning.startsWith('55') ? 13 : 11) - beginning.length
  return beginning + String(random % 10 ** length).padStart(length, '0')
}
