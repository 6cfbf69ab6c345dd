-- Not committed: stands for the migration of another branch.
select 1;
