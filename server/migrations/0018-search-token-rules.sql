-- By what rules the tokens of a workspace were made, and up to which lead they have been made anew by the present ones.
alter table lead_search_feeds
  add column rules smallint not null default 1,
  add column renewed_to uuid;
