import type { Phone, Stage } from './channel-rig.ts'

/** A customer of the simulator, who chats with this number. */
export async function addCustomer(
  { simulate, settled }: Stage,
  fields: { numberId: string; name: string; phone: string },
): Promise<Phone> {
  const { id } = await simulate('POST', 'customers', fields)
  const act = async (what: string, body?: object) => {
    await simulate('POST', `customers/${id}/${what}`, body)
    await settled()
  }
  return {
    phone: fields.phone,
    writes: (text) => act('messages', { text }),
    shows: (kind, text = '') => act('messages', { kind, text }),
    chooses: async (choiceId) => {
      const { messages } = await simulate('GET', `customers/${id}`)
      const about = messages.findLast(({ offer }: { offer: object | null }) => offer !== null)?.id
      await act('messages', { about, choiceId })
    },
    reads: () => act('read'),
    getsFromDevice: (text) => act('echo', { text }),
    screen: async () => (await simulate('GET', `customers/${id}`)).messages,
    chat: async () => {
      const { messages } = await simulate('GET', `customers/${id}`)
      const shown = messages.filter(({ status }: { status: string }) => status !== 'failed')
      return shown.map(({ from, text, status }: Record<string, string>) => ({ from, text, status }))
    },
  }
}
