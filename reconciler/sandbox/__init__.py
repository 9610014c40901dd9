"""A small real cloud in a process of its own. It shares schemas with the product and nothing else."""
