interface Facts {
  actor: string
  count: number
  connection: string | null
  /** What it is about it, where it is not down. */
  reason: string | null
}

export const told = {
  unread: (count: number) => (count === 1 ? '1 unread' : `${count} unread`),
  new: 'New:',
  somebody: 'Somebody',
  readAll: 'Mark all as read',
  older: 'Show older',
  empty: 'Nothing yet',
  emptyHelp: 'You hear here when somebody mentions you, assigns you a conversation, or a customer waits too long.',
  toSettings: 'Notification settings',
  sentences: {
    mention: ({ actor }: Facts) => `${actor} mentioned you`,
    assigned: ({ actor }: Facts) => `${actor} assigned you a conversation`,
    handover: ({ actor }: Facts) => `${actor} handed over a conversation`,
    waiting: ({ count }: Facts) =>
      count === 1 ? 'Waiting for an answer' : `${count} customers are waiting for an answer`,
    connection: ({ connection, reason }: Facts) =>
      connection !== null && reason !== null
        ? `${connection}: ${reason}`
        : connection === null
          ? 'A connection is down'
          : `${connection} is disconnected`,
  },
  settings: {
    title: 'Notifications',
    help: 'What you are told of in this workspace, and how. Never of what you did yourself.',
    kind: 'What',
    kinds: {
      mention: 'Somebody mentions me',
      assigned: 'A conversation is assigned to me',
      handover: 'An agent hands a conversation over',
      waiting: 'A customer waits too long',
      connection: 'A connection is down',
    },
    ways: { bell: 'Bell', sound: 'Sound', browser: 'Browser', push: 'When closed' },
    wayHelp: 'Without the bell you are not told at all.',
    of: (kind: string, way: string) => `${kind}: ${way}`,
    browser: {
      title: 'This browser',
      on: 'This browser shows notifications, also when Parley is closed.',
      open: 'This browser shows notifications while Parley is open. It reaches no push service, so it shows none when Parley is closed; it tries again each time you open Parley.',
      off: 'This browser shows no notifications yet.',
      denied: 'This browser blocks notifications from Parley. Allow them in the settings of the browser for this site.',
      unsupported: 'This browser cannot show notifications. On an iPhone, add Parley to the home screen first.',
      turnOn: 'Show notifications in this browser',
      turnOff: 'Stop in this browser',
    },
    tone: 'Tone',
    tones: { chime: 'Chime', drop: 'Drop', knock: 'Knock' },
    hear: 'Hear it',
    pushNames: 'Show who the customer is when Parley is closed',
    pushNamesHelp: 'It may be seen on a locked screen. What the customer wrote is never shown.',
    quiet: 'Quiet hours',
    quietHelp: 'No sound and no pop-up. The bell fills all the same.',
    from: 'From',
    to: 'Until',
    timeZone: 'Time zone',
    days: 'Quiet all day',
    same: 'Start and end must differ.',
    notKept: 'This was not kept. Change it once more.',
  },
}
