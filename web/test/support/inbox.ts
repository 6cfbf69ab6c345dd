import type { Page } from 'playwright-core'
import { waitUntil } from './composing.ts'
import type { Demo } from './demo.ts'

/** A simulated customer. */
export interface Customer {
  id: string
  says(text: string): Promise<void>
}

export async function customerCalled(demo: Demo, name: string): Promise<Customer> {
  const { body } = await demo.call('GET', `${demo.simulatorUrl}/simulator/customers`)
  const found = body.customers.find((one: { name: string }) => one.name === name)
  return customerOf(demo, found.id)
}

export async function newCustomer(demo: Demo, name: string, phone: string): Promise<Customer> {
  const { body } = await demo.call('POST', `${demo.simulatorUrl}/simulator/customers`, { name, phone, online: true })
  return customerOf(demo, (body.customer ?? body).id)
}

function customerOf(demo: Demo, id: string): Customer {
  const says = async (text: string) => {
    const { status } = await demo.call('POST', `${demo.simulatorUrl}/simulator/customers/${id}/messages`, { text })
    if (status !== 201) throw new Error(`The customer could not write: ${status}`)
  }
  return { id, says }
}

/** Resolves when the server has received all messages of customers, which the simulator does not wait for. */
export async function waitForAll(demo: Demo): Promise<void> {
  const delivery = async () => (await demo.call('GET', `${demo.simulatorUrl}/simulator/delivery`)).body
  await waitUntil(delivery, ({ pending }) => pending === 0)
}

/** Returns the open conversation from the address. */
export const openId = (page: Page): string => new URL(page.url()).pathname.split('/').at(-1) ?? ''
