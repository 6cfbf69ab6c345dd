/** Tests that say nothing of tables that are spread, and why: each of a file whose others are run there. */
export const ofOneServer: readonly { name: RegExp; why: string }[] = [
  { name: /^no index follows a message/, why: 'What was updated in place is counted by each server for itself.' },
  ...[/^used keys are found by their index alone/, /^what an image found is read by its ids/].map((name) => ({
    name,
    why: 'A coordinator tells no plan of another server.',
  })),
  ...[
    /^a message whose conversation is merged between the look and the lock/,
    /^conversations are locked in the order of their ids/,
    /^an answer that is noted while a status of another part is applied/,
    /^a conversation that is held by others holds up neither/,
    /^a conversation that becomes a part of another between the look and the lock/,
    /^what comes while a customer is erased begins another conversation/,
  ].map((name) => ({ name, why: 'Who waits for whom is seen by the locks of one server.' })),
  ...[
    /^a row that the database refuses for ever/,
    /^a status of an unknown message that the database refuses for ever/,
    /^a database that goes away over its /,
    /^callbacks that come at once are 503 while the database is away/,
    /^under a role that its sessions have taken on/,
  ].map((name) => ({ name, why: 'Takes what only one server has, such as triggers and roles.' })),
  {
    name: /^a process that stalls with the session locked/,
    why: 'Its three sessions take several servers as long as a lease to begin.',
  },
  {
    name: /^workers that make and drop at once agree/,
    why: 'To drop a part takes several servers longer than others wait.',
  },
]
