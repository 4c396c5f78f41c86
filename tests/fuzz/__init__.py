"""Generated calls, files and models: each must end in an answer that holds, or in a sentence.

``python -m tests.fuzz --minutes 5 --seed 4711`` runs new cases; ``--kind calls --case 17`` with the
same seed runs one of them again. A case is made from its kind, the seed and its number alone.

Where is ...?

graphs, points, labels   what calls are made of: add a generator to the dictionary of its file
functions, objects       cases of functions: of the paper, and on the user's own objects
calls, answers           one case of a call, and what must hold of its answer
tables, binaries, files  what files are made of; one case of a command on files
models                   saved models, damaged
verdict                  which exceptions, messages and warnings are fine
source                   values as Python source, for the program that shows a finding
worker, runner           cases in a child process; the parent that survives it
faults                   cases that crash, hang and the like, to see that the harness sees it
"""
