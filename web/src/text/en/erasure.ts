export const erasure = {
  title: 'Erase this customer?',
  help: 'Their leads, conversations, messages, notes and history are erased for good, here and in what waits to be sent by webhooks. This cannot be undone. What they write afterwards begins anew.',
  looking: 'Looking what there is…',
  found: 'There is to erase:',
  nothing: 'Nothing was found. Stored files of imports are looked through all the same.',
  word: 'ERASE',
  action: 'Erase for good',
  done: 'Erased',
  goesOn: 'There is much to erase. It goes on by itself; the audit log says when it is done.',
  kinds: {
    leads: (n: number) => (n === 1 ? '1 lead' : `${n} leads`),
    conversations: (n: number) => (n === 1 ? '1 conversation' : `${n} conversations`),
    messages: (n: number) => (n === 1 ? '1 message' : `${n} messages`),
    notes: (n: number) => (n === 1 ? '1 note' : `${n} notes`),
    events: (n: number) => (n === 1 ? '1 event' : `${n} events`),
    importFiles: (n: number) => (n === 1 ? '1 file of an import' : `${n} files of imports`),
  },
}
