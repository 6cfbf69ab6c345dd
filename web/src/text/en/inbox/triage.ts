export const triage = {
  pick: {
    labelSearch: 'Search labels',
    assignSearch: 'Search members',
    snoozeSearch: 'When? 2h, 3d, 18:30…',
    nothing: 'Nothing found',
    noLabels: 'No labels yet. Admins create them.',
    createLabel: (name: string) => `Create label “${name}”`,
    labelMade: (name: string) => `Label ${name} is created`,
    at: 'Date and time',
    snoozeAt: 'Snooze until then',
    past: 'Choose a time that is still to come.',
  },
  bulk: {
    chosen: (n: number, shown: string) => (n === 1 ? '1 selected' : `${shown} selected`),
    all: (shown: string) => `Select all ${shown}`,
    most: (shown: string) => `At most ${shown} at once`,
    group: 'Selected conversations',
    working: (done: string, of: string) => `Changing ${done} of ${of}…`,
    changed: (n: number, shown: string) => (n === 1 ? '1 conversation changed' : `${shown} conversations changed`),
    none: 'Nothing had to change',
    broken: (shown: string, of: string) =>
      `${shown} of ${of} were changed, then the connection failed. Try again for the rest.`,
    undone: (n: number, shown: string) =>
      n === 1 ? '1 conversation is as before' : `${shown} conversations are as before`,
    left: (n: number, shown: string) =>
      n === 1 ? '1 was changed since, and stays as it is.' : `${shown} were changed since, and stay as they are.`,
  },
  mentions: {
    title: 'Mentions',
    unread: (n: number, shown: string) => (n === 0 ? 'Mentions' : `Mentions: ${shown} unread`),
    empty: 'No one has mentioned you yet. Write @ and a name in a note to mention a colleague.',
    allRead: 'Mark all read',
    more: 'Show more',
    isUnread: 'Unread',
    by: (who: string, customer: string) => `${who}, about ${customer}`,
  },
}
