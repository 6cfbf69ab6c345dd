import { webhooksGuide } from './openapi-webhooks-guide.ts'

/** What routes are about, in the order in which the reference and the Postman collection show them. */
const groups: Record<string, Record<string, string>> = {
  'For API keys': {
    Leads: 'Read, create, change and find leads. For API keys with the scopes `leads.*`.',
    Inbox: 'Conversations and messages. For API keys with the scopes `inbox.*`.',
    Events: 'What has happened, in order: the pull twin of webhooks.',
  },
  'For the team': {
    'Sign-in': 'How a person begins and ends a session: by password, second factor or link.',
    Profile: 'The person who is signed in: name, password, second factor, sessions.',
    Workspaces: 'Teams and their settings. Whatever belongs to a team has its workspace in the path.',
    Members: 'Who belongs to a workspace, in which role, and who is invited.',
    'API keys': 'Keys for programs and agents: what they may do, from where, and until when.',
    'Team tokens': 'Credentials with which automation uses the interface of the team.',
    Erasures: 'A customer who wants to be forgotten: erase all that a workspace holds of them.',
    'Audit log': 'Who changed what about access and settings, and when.',
    'Team leads': 'The leads of a workspace as its members work with them.',
    'Lead fields': 'The custom fields that a workspace defines: for people, and never against what API keys write.',
    'Lead merges': 'Two leads that are one person: compared, merged, and taken apart again within 30 days.',
    'Lead bulk changes': 'What is done to many leads at once: begun, watched, cancelled, undone within a day.',
    'Lead imports': 'Files of leads: upload one, look at it, import it.',
    'Team inbox': 'Conversations as members work with them: who owns them, notes, mentions, presence.',
    Notices: 'What a member is told of: mentions, assignments, hand-overs, waits and outages, and how.',
    Labels: 'What conversations are marked with.',
    'Canned replies': 'Texts that members send often, by a short name.',
    'Saved filters': 'Views of leads and of the inbox that members keep.',
    Connections: 'The numbers of chat platforms: connect, pause and pair them, see how they fare.',
    Webhooks: webhooksGuide,
    Forms: 'Lead forms: how the team makes them and how the public fills them.',
    Statistics: "What the team's first page shows.",
    'Live updates': 'What changes while a page is open.',
  },
  'For operators': {
    'Key rotation': 'Exchanges the keys that seal data, while the service runs.',
    Service: 'Health.',
  },
  'For platforms': {
    Channels: 'What chat platforms call.',
  },
}

export const tags = Object.values(groups).flatMap((group) =>
  Object.entries(group).map(([name, description]) => ({ name, description })),
)

export const tagGroups = Object.entries(groups).map(([name, group]) => ({ name, tags: Object.keys(group) }))
