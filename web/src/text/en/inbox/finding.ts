/** What is said of what was looked for in the inbox. */
export const finding = {
  found: {
    title: 'Found',
    conversations: 'Conversations',
    matching: 'Matching conversations',
    messages: 'Messages',
    noConversation: 'No conversation with this name or number.',
    tooShort: 'Names and numbers are found by three characters or more.',
    noMessage: 'No message says this.',
    showAll: 'Show all conversations',
    showFewer: 'Show fewer conversations',
    older: 'Show older messages',
    looking: 'Looking further back…',
    lookedTo: (day: string) => `Looked back to ${day}`,
  },
}
