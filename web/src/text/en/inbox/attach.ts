export const attach = {
  choose: 'Attach files',
  notKnown: 'What can be sent here is being asked',
  caption: 'Add a caption',
  captionOf: (name: string) => `Caption of ${name}`,
  pasted: 'Pasted picture',
  record: 'Record a voice message',
  reply: 'Reply to this message',
  react: 'React to this message',
}
