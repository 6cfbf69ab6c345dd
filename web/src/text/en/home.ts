export const home = {
  reference: 'API reference',
  span: 'Period',
  spans: { 7: '7 days', 30: '30 days', 90: '90 days' },
  attention: {
    title: 'Needs attention',
    nothing: 'Nothing needs your attention right now.',
    nameless: 'without a name',
    tones: { bad: 'Trouble', attention: 'Attention', hint: 'Hint' },
    words: {
      agents_stopped: () => 'All agents are stopped. People answer every conversation.',
      connection_unavailable: (name: string) => `${name} is not connected. Messages are neither sent nor received.`,
      quota_reached: (_: string, n: number) =>
        `Today's lead limit is reached: ${n}. New ones are refused until midnight UTC.`,
      customers_waiting: (_: string, n: number) => (n === 1 ? 'One customer is waiting' : `${n} customers are waiting`),
      key_paused: (name: string) => `The API key ${name} repeated itself and was paused for a while.`,
      webhook_disabled: (name: string) => `The webhook ${name} was turned off after too many failures.`,
      webhook_failing: (name: string, n: number) => `The webhook ${name} has failed ${n} times in a row.`,
      acknowledgement_missing: (name: string) => `Somebody has to confirm the risk of ${name}.`,
      key_expired: (name: string) => `The API key ${name} has expired.`,
      acknowledgement_ending: (name: string) => `The confirmation of the risk of ${name} expires soon.`,
      key_expiring: (name: string) => `The API key ${name} expires soon.`,
      quota_near: (_: string, n: number) => `Today's lead limit is almost reached: ${n}.`,
      connection_not_set_up: (name: string) => `${name} is not set up yet. Link a phone to try it.`,
    },
  },
  figures: {
    newLeads: 'New leads',
    inDays: (n: number) => `in ${n} days`,
    today: 'Today',
    leads: 'new leads',
    allLeads: 'All leads',
    now: 'now',
    waiting: 'Waiting',
    waitingFor: (minutes: number) => `for ${minutes} minutes or more`,
    people: 'People answer in',
    agents: 'Agents answer in',
    median: (n: number, answers: string) => `median of ${n === 1 ? 'one answer' : `${answers} answers`}`,
    noData: 'No data yet',
    noAnswers: 'No answers in this period',
  },
  charts: {
    leadsPerDay: 'Leads per day',
    bySource: 'New leads by source',
    byStatus: 'All leads by status',
    answerTimes: 'Time to the first answer',
    people: 'People',
    agents: 'Agents',
    otherApps: 'Other apps',
    noLeads: 'No leads yet.',
    noAnswers: 'Nobody was answered in this time.',
    slowest: (people: string | null, agents: string | null) =>
      [
        'The median of each day.',
        people === null ? '' : `People answered nine of ten customers within ${people}.`,
        agents === null ? '' : `Agents answered nine of ten within ${agents}.`,
      ]
        .join(' ')
        .trim(),
  },
  change: {
    counts: {
      more: (percent: string, days: number, before: string) =>
        `Up from ${before} in the ${days} days before (+${percent})`,
      less: (percent: string, days: number, before: string) =>
        `Down from ${before} in the ${days} days before (−${percent})`,
      same: (_: string, days: number) => `As many as in the ${days} days before`,
      new: (_: string, days: number) => `None in the ${days} days before`,
    },
    times: {
      more: (percent: string, days: number, before: string) =>
        `${percent} slower than ${before} in the ${days} days before`,
      less: (percent: string, days: number, before: string) =>
        `${percent} faster than ${before} in the ${days} days before`,
      same: (_: string, days: number) => `As fast as in the ${days} days before`,
      new: (_: string, days: number) => `At once in the ${days} days before`,
    },
  },
  groups: {
    title: 'First answers',
    by: 'Group by',
    names: { people: 'Person', agents: 'Agent', connections: 'Connection', labels: 'Label' },
    name: 'Name',
    answers: 'Answers',
    answersBefore: 'Before',
    median: 'Median',
    medianBefore: 'Median before',
    p90: 'Nine of ten within',
    gone: { people: 'A former member or a program of the installation', agents: 'An agent that is gone' },
    none: 'Nobody was answered in this time or the time before.',
    help: (days: number) => `The last ${days} days beside the ${days} days before.`,
    sampled: (every: string) => `One conversation in ${every} is looked at, and the counts are multiplied by it.`,
  },
  csv: {
    label: 'CSV',
    days: 'By day',
    groups: 'By person, agent, connection and label',
    daysFile: 'parley-days',
    groupsFile: 'parley-answers',
    date: 'Date',
    group: 'Group',
    answers: 'Answers',
    median: 'Median (seconds)',
    p90: 'Nine of ten within (seconds)',
    before: (figure: string) => `${figure}, before`,
  },
  quota: {
    title: 'Leads today',
    used: (used: string, limit: string) => `${used} of ${limit} new leads since midnight UTC.`,
    unlimited: (used: string) => `${used} new leads since midnight UTC. There is no limit.`,
  },
  begin: {
    title: 'Getting started',
    putAway: 'Dismiss',
    done: 'Done',
    open: 'To do',
    curl: 'Command',
    connect: {
      what: 'Connect a number',
      why: 'An official one, a partner’s, or the simulated phone to try things out.',
      action: 'Go to connections',
    },
    key: {
      what: 'Create an API key',
      why: 'Programs and AI agents connect with one.',
      action: 'Go to API keys',
    },
    call: { what: 'Create the first lead', why: 'Insert your key and run this in a terminal.' },
    form: { what: 'Build a form', why: 'What people fill in on your site becomes a lead.', action: 'Go to forms' },
    invite: { what: 'Invite your team', why: 'They join with a link.', action: 'Go to members' },
  },
}

export const charts = {
  when: 'When',
  asTable: 'Show as a table',
  asChart: 'Show as a chart',
}
