import { addTemplate } from '../control-routes.ts'
import { sendFromCustomer } from '../customer-actions.ts'
import { fileMessageFields } from '../files/present-file.ts'
import { addReadyMade } from '../files/sample-files.ts'
import { makePhoneId } from '../linked/baileys-shapes.ts'
import type { SimulatedTemplate } from '../simulated-template.ts'
import type { Simulator } from '../simulator.ts'
import { addCustomer, addMessage } from '../world.ts'
import { demoPeople, demoTemplates, phoneDemoPeople } from './demo-people.ts'

const minuteMs = 60_000
const betweenMs = 35_000

/**
 * Adds customers and templates to the simulator. With `speak` the customers also write, which requires that the number
 * has its callback. Without it they only have their phones, as after a restart of a demo that already has its
 * conversations.
 */
export function seedDemo(simulator: Simulator, { speak }: { speak: boolean }): void {
  const { platform, number } = simulator
  for (const template of [helloWorld, ...demoTemplates]) addTemplate(platform.world, template)
  const now = platform.clock.now().getTime()
  for (const { says, minutesAgo, ...person } of demoPeople) {
    const customer = addCustomer(platform.world, { ...person, numberId: number.numberId })
    if (!speak) continue
    const ids: string[] = []
    for (const [index, { text, kind = 'text', ad = null, made, fileName, about, ...parts }] of says.entries()) {
      const at = new Date(now - minutesAgo * minuteMs + index * betweenMs)
      const file = made && addReadyMade(platform.files, number.numberId, made, fileName)
      const utterance = { kind, text, about: ids[about ?? -1] ?? null, file, ...parts }
      ids.push(sendFromCustomer({ platform, number, customer }, utterance, { ad, at }).id)
    }
  }
  seedPhone(simulator)
  platform.changed()
}

/** Every account of the platform has it from the beginning. */
const helloWorld = {
  name: 'hello_world',
  language: 'en_US',
  status: 'APPROVED',
  category: 'UTILITY',
  parameter_format: 'POSITIONAL',
  components: [
    { type: 'HEADER', format: 'TEXT', text: 'Hello World' },
    { type: 'BODY', text: 'Welcome and congratulations! This message shows that messages can be sent.' },
  ],
} satisfies Omit<SimulatedTemplate, 'id'>

// Chats on the owner's phone from before any device was linked.
function seedPhone({ platform, phone }: Simulator): void {
  const now = platform.clock.now().getTime()
  for (const { chat, minutesAgo, ...person } of phoneDemoPeople) {
    const customer = addCustomer(platform.world, { ...person, numberId: phone.numberId })
    for (const [index, { from, text, made, kind = 'image' }] of chat.entries()) {
      const at = new Date(now - minutesAgo * minuteMs + index * betweenMs)
      const file = made && addReadyMade(platform.files, phone.numberId, made)
      const shown = file === undefined ? { text } : fileMessageFields(file, kind, text)
      addMessage(customer, { ...shown, id: makePhoneId(), from, at, status: 'read' })
      if (from === 'customer') customer.lastWroteAt = at
    }
  }
}
