export const erasure = {
  title: 'Erase this customer?',
  help: 'Their leads, conversations, messages, notes and history are erased for good, here and in what waits to be sent by webhooks. This cannot be undone. If they write again, they start as a new customer.',
  looking: 'Looking for their data…',
  found: 'This will be erased:',
  nothing: 'Nothing was found. Stored import files are searched all the same.',
  word: 'ERASE',
  action: 'Erase for good',
  done: 'Erased',
  goesOn: 'There is a lot to erase. It continues in the background; the audit log says when it is done.',
  kinds: {
    leads: (n: number) => (n === 1 ? '1 lead' : `${n} leads`),
    conversations: (n: number) => (n === 1 ? '1 conversation' : `${n} conversations`),
    messages: (n: number) => (n === 1 ? '1 message' : `${n} messages`),
    notes: (n: number) => (n === 1 ? '1 note' : `${n} notes`),
    events: (n: number) => (n === 1 ? '1 event' : `${n} events`),
    importFiles: (n: number) => (n === 1 ? '1 import file' : `${n} import files`),
  },
}
