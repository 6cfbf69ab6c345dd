/** The fixed words of a lead, said alike on every page. */
export const lead = {
  statuses: {
    new: 'New',
    contacted: 'Contacted',
    qualified: 'Qualified',
    proposal: 'Proposal',
    won: 'Won',
    lost: 'Lost',
    unqualified: 'Unqualified',
  } as Record<string, string>,
  priorities: { low: 'Low', medium: 'Medium', high: 'High', urgent: 'Urgent' },
  sources: {
    website: 'Website',
    chat_app: 'Chat',
    phone: 'Phone call',
    email: 'E-mail',
    referral: 'Referral',
    social: 'Social media',
    ads: 'Ads',
    event: 'Event',
    other: 'Other',
  },
  readAs: (amount: string) => `Read as ${amount}`,
  notAnAmount: 'Write an amount, such as 1500 or 1,500.50',
}
