/** What is said of what was looked for: in the inbox, and by which other words the palette finds an action. */
export const finding = {
  found: {
    title: 'Found',
    conversations: 'Conversations',
    messages: 'Messages',
    noConversation: 'No conversation with this name or number.',
    noMessage: 'No message says this.',
    showAll: 'Show all conversations',
    showFewer: 'Show fewer conversations',
    older: 'Show older messages',
    looking: 'Looking further back…',
    lookedTo: (day: string) => `Looked back to ${day}`,
  },
  words: {
    make: 'add create make',
    looks: { light: 'theme bright day', dark: 'theme night black', auto: 'theme automatic' },
    languages: { en: 'English idioma inglés inglês', pt: 'Portuguese idioma', es: 'Spanish idioma' },
    leave: 'log out leave exit',
  },
}
