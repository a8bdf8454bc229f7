"""`python -m tracecup`: the same as the command `tracecup`.

Works also where the scripts folder is not on the path.
"""

from tracecup.cli.main import main

if __name__ == "__main__":
    main()
